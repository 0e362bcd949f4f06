/** What commands print: a table for people, JSON or YAML for programs. */
import { RookeryError } from '../errors.ts';

export type OutputFormat = 'table' | 'json' | 'yaml';

export const OUTPUT_FORMATS: OutputFormat[] = ['table', 'json', 'yaml'];

export function checkFormat(text: string): OutputFormat {
  if ((OUTPUT_FORMATS as string[]).includes(text)) return text as OutputFormat;
  throw new RookeryError('cli.output', `unknown output format ${JSON.stringify(text)}`, {
    class: 'user',
    hint: `use one of ${OUTPUT_FORMATS.join(', ')}`,
  });
}

/** Prints `value` as JSON or YAML, or what `table` makes of it. */
export async function print<T>(format: OutputFormat, value: T, table: (value: T) => string): Promise<void> {
  process.stdout.write(await rendered(format, value, table));
}

async function rendered<T>(format: OutputFormat, value: T, table: (value: T) => string): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  if (format === 'yaml') return (await import('yaml')).stringify(value);
  return table(value);
}

/** Columns as wide as their widest cell, two spaces apart, as kubectl prints them. */
export function columns(header: string[], rows: string[][]): string {
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('   ')
      .trimEnd();
  return `${[header, ...rows].map(line).join('\n')}\n`;
}

/** `5s`, `12m`, `3h`, `4d`: how long ago. */
export function age(since: string | undefined, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since ?? '')) / 1000));
  if (Number.isNaN(seconds)) return '<unknown>';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
