// docs/conformance.md: between the marks of a tier stands what its last whole run gave; everything else is written by people.

import type { Outcome } from './outcome.ts';
import { isSerial, type Tier } from './spec-list.ts';

export interface Run {
  readonly tier: Tier;
  readonly outcomes: readonly Outcome[];
  /** E.g. `2026-11-16, a virtual cluster with 2 nodes, Kubernetes v1.35.8, 3 processes`. */
  readonly about: string;
}

const begin = (tier: Tier): string => `<!-- tier ${tier}: written by make conformance -->`;
const end = (tier: Tier): string => `<!-- end of tier ${tier} -->`;

export function withRun(document: string, run: Run): string {
  const from = document.indexOf(begin(run.tier));
  const to = document.indexOf(end(run.tier));
  if (from < 0 || to < from) throw new Error(`docs/conformance.md has lost its marks: ${begin(run.tier)}`);
  return `${document.slice(0, from)}${begin(run.tier)}\n${textOf(run)}${document.slice(to)}`;
}

function textOf({ outcomes, about }: Run): string {
  const failed = outcomes.filter(({ passed }) => !passed);
  const passed = outcomes.filter((outcome) => outcome.passed);
  const serial = outcomes.filter(({ spec }) => isSerial(spec)).length;
  const lines = [
    `**${passed.length} of ${outcomes.length} pass** (${serial} of them one at a time). Last run: ${about}.`,
    '',
    ...(failed.length > 0 ? ['| fails | first line of why |', '|---|---|'] : []),
    ...failed.map(({ spec, why }) => `| ${spec.name.replaceAll('|', '\\|')} | ${why} |`),
    ...(failed.length > 0 ? [''] : []),
    '<details><summary>The names of those that pass</summary>',
    '',
    ...passed.map(({ spec }) => `- ${spec.name}`),
    '',
    '</details>',
    '',
  ];
  return `${lines.join('\n')}`;
}
