// Finding parts in the catalog.
import { catalog } from './catalog.ts';
import type { Part } from './part.ts';

export function partNamed(name: string): Part {
  const part = catalog.find((candidate) => candidate.name === name);
  if (!part) throw new Error(`the bed has no part named ${name}; it has: ${catalog.map((p) => p.name).join(', ')}`);
  return part;
}

/** The parts asked for and all they need, in catalog order, which is also a valid build order. */
export function closure(names: readonly string[]): Part[] {
  const wanted = new Set<string>();
  const visit = (name: string): void => {
    if (wanted.has(name)) return;
    wanted.add(name);
    for (const need of partNamed(name).needs ?? []) visit(need);
  };
  for (const name of names) visit(name);
  return catalog.filter((part) => wanted.has(part.name));
}
