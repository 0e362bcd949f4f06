/** Names with five random letters at the end, as Kubernetes makes them. */
import type { Random } from '../../clock.ts';

/** No vowels and nothing that looks like something else: no words by accident. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const LENGTH = 5;
const LONGEST = 63;

export function randomSuffix(random: Random): string {
  return Array.from(random.bytes(LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join('');
}

/** `base` + suffix, cut so that it can be a label, too. */
export function randomName(base: string, random: Random, suffix = randomSuffix(random)): string {
  return base.slice(0, LONGEST - LENGTH) + suffix;
}

/** A Go template of the two forms that are allowed: `{{ .cluster.name }}`, `{{ .machineSet.name }}` and `{{ .random }}`. */
export function nameFromTemplate(template: string, values: Record<string, string>, random: Random): string {
  const filled = template.replace(/\{\{\s*\.([A-Za-z.]+)\s*\}\}/g, (whole, name: string) =>
    name === 'random' ? whole : (values[name] ?? whole),
  );
  const at = filled.search(/\{\{\s*\.random\s*\}\}/);
  const rest = filled.slice(at).replace(/\{\{\s*\.random\s*\}\}/, randomSuffix(random));
  return filled.slice(0, Math.max(0, LONGEST - rest.length)).slice(0, at) + rest;
}
