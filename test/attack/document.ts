/** docs/security.md: between the marks stands what the last run of `make attack` gave; people write the rest. */
import type { Outcome } from './run.ts';

const BEGIN = '<!-- attacks: written by make attack -->';
const END = '<!-- end of attacks -->';

export function withOutcomes(document: string, outcomes: readonly Outcome[], about: string): string {
  const [from, to] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/security.md has lost its marks: ${BEGIN}`);
  return `${document.slice(0, from)}${BEGIN}\n${textOf(outcomes, about)}${document.slice(to)}`;
}

function textOf(outcomes: readonly Outcome[], about: string): string {
  const count = (of: readonly Outcome[]) =>
    `${of.filter(({ failure }) => failure === undefined).length} of ${of.length}`;
  const subjects = [...new Set(outcomes.map(({ subject }) => subject))];
  const open = outcomes.filter(({ failure }) => failure !== undefined);
  return [
    `**${count(outcomes)} attacks were withstood.** Last run: ${about}.`,
    '',
    '| subject | withstood |',
    '|---|---|',
    ...subjects.map((name) => `| ${name} | ${count(outcomes.filter(({ subject }) => subject === name))} |`),
    '',
    ...open.map(({ subject, attack, failure }) => `- Not withstood (${subject}): ${attack}: ${failure}`),
    ...(open.length > 0 ? [''] : []),
    '<details><summary>Every attack</summary>',
    '',
    ...outcomes.map(({ subject, attack }) => `- ${subject}: ${attack}`),
    '',
    '</details>',
    '',
  ].join('\n');
}
