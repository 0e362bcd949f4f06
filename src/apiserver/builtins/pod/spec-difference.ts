/** Shows what differs between two pod specs, one line per field, for the refusal of an update. */
import type { Any } from '../fields.ts';

function walk(old: Any, now: Any, path: string, lines: string[]): void {
  if (JSON.stringify(old) === JSON.stringify(now)) return;
  const objects =
    old && now && typeof old === 'object' && typeof now === 'object' && Array.isArray(old) === Array.isArray(now);
  if (!objects) {
    if (old !== undefined) lines.push(`- \t${path}: ${JSON.stringify(old)}`);
    if (now !== undefined) lines.push(`+ \t${path}: ${JSON.stringify(now)}`);
    return;
  }
  for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
    walk(old[name], now[name], Array.isArray(old) ? `${path}[${name}]` : `${path}.${name}`, lines);
  }
}

export function specDifference(old: Any, now: Any): string {
  const lines: string[] = [];
  walk(old, now, 'spec', lines);
  return `${lines.join('\n')}\n`;
}
