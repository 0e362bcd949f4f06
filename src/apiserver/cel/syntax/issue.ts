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
    super(
      sorted(issues)
        .map((issue) => display(source, issue))
        .join('\n'),
    );
    this.issues = issues;
  }
}

function sorted(issues: readonly Issue[]): readonly Issue[] {
  return [...issues].sort((a, b) => a.at - b.at);
}

const MAX_SNIPPET = 16_384;

function display(source: string, { at, message }: Issue): string {
  if (at < 0) return `ERROR: <input>:-1:0: ${message}`;
  const before = source.slice(0, at);
  const line = before.split('\n').length;
  const column = [...before.slice(before.lastIndexOf('\n') + 1)];
  const head = `ERROR: <input>:${line}:${column.length + 1}: ${message}`;
  const text = (source.split('\n')[line - 1] ?? '').replaceAll('\t', ' ');
  if (Buffer.byteLength(text) > MAX_SNIPPET) return head;
  const wide = (char: string | undefined) => char !== undefined && Buffer.byteLength(char) > 1;
  const dots = column.map((char) => (wide(char) ? '．' : '.')).join('');
  const mark = wide([...text][column.length]) ? '＾' : '^';
  return `${head}\n | ${text}\n | ${dots}${mark}`;
}
