/** A short text that two values share only when they are the same, whatever the order of their fields. */
import { createHash } from 'node:crypto';

export function fingerprintOf(value: unknown): string {
  return createHash('sha256').update(sorted(value)).digest('hex').slice(0, 16);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
