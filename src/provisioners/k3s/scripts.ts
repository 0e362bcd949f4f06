/** What runs on a machine with k3s: the POSIX sh programs in `host/`, put together, and where they keep their things there. */
import { readFileSync } from 'node:fs';

/** Our folder on the machine. Where it has an owner, the machine is taken. */
export const HOME = '/var/lib/rookery/k3s';
export const UNIT = '/etc/systemd/system/rookery-k3s.service';

type Name = 'look' | 'claim' | 'place' | 'start' | 'supervise' | 'quiet' | 'sweep' | 'release';

const texts = new Map<string, string>();

/** One program; each gets our folder, the owner's id and k3s's data folder as its first arguments. */
export function script(...names: Name[]): string {
  return ['common', ...names].map(text).join('\n');
}

function text(name: string): string {
  let known = texts.get(name);
  if (known === undefined) {
    known = readFileSync(new URL(`./host/${name}.sh`, import.meta.url), 'utf8');
    texts.set(name, known);
  }
  return known;
}
