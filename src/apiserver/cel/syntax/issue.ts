/** Problems of an expression as cel-go shows them: where, what, the line, and a mark under the place. */
export interface Issue {
  /** Offset in the source, in UTF-16 units; -1 where there is no place. */
  at: number;
  message: string;
}

export class CompileError extends Error {
  override readonly name = 'CompileError';
  readonly issues: readonly Issue[];

  constructor(source: string, issues: readonly Issue[]) {
    const shown = sorted(issues.slice(0, MAX_ISSUES)).map((issue) => display(source, issue));
    const more = issues.length - shown.length;
    super([...shown, ...(more > 0 ? [`${more} more errors were truncated`] : [])].join('\n'));
    this.issues = issues;
  }
}

function sorted(issues: readonly Issue[]): readonly Issue[] {
  return [...issues].sort((a, b) => a.at - b.at);
}

/** More help nobody, and each takes the time to find its line. */
export const MAX_ISSUES = 100;
const MAX_SNIPPET = 16_384;

function display(source: string, { at, message }: Issue): string {
  if (at < 0) return `ERROR: <input>:-1:0: ${message}`;
  const start = source.lastIndexOf('\n', at - 1) + 1;
  const end = source.indexOf('\n', start);
  const before = source.slice(start, at);
  const head = `ERROR: <input>:${lines(source, at)}:${codePoints(before) + 1}: ${message}`;
  const text = source.slice(start, end < 0 ? undefined : end).replaceAll('\t', ' ');
  if (Buffer.byteLength(text) > MAX_SNIPPET) return head;
  const column = [...before];
  const wide = (char: string | undefined) => char !== undefined && Buffer.byteLength(char) > 1;
  const dots = column.map((char) => (wide(char) ? '．' : '.')).join('');
  const mark = wide([...text][column.length]) ? '＾' : '^';
  return `${head}\n | ${text}\n | ${dots}${mark}`;
}

function lines(source: string, until: number): number {
  let count = 1;
  for (let at = source.indexOf('\n'); at >= 0 && at < until; at = source.indexOf('\n', at + 1)) count++;
  return count;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
