// Which of upstream's conformance specs are asked for. The lists are data, one full spec name a line: tier A needs only an API
// (no pod has to run), tier B also controllers, a scheduler and pods that only seem to run.
import { readFileSync } from 'node:fs';

export type Tier = 'a' | 'b';
export const tiers: readonly Tier[] = ['a', 'b'];

export interface Spec {
  readonly name: string;
  readonly tier: Tier;
}

export const specsOf = (tier: Tier): Spec[] =>
  readFileSync(new URL(`./tiers/${tier}.txt`, import.meta.url), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((name) => ({ name, tier }));

/** Upstream marks the ones that change something all others would notice, like nodes or priorities. */
export const isSerial = ({ name }: Spec): boolean => /\[(Serial|Disruptive)\]/.test(name);

/** Ginkgo matches against the suite's name and the spec's together, so only the end can be pinned. */
export const focusOn = (specs: readonly Spec[]): string =>
  specs.map(({ name }) => `${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`).join('|');
