/** The values that string and bytes literals stand for. */
const SIMPLE: Record<string, string> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

const ESCAPED =
  /\\(?:([abfnrtv"'\\?`])|([0-3][0-7][0-7])|[xX]([0-9a-fA-F]{2})|(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})))/g;

/** Throws an Error worded for the author where an escape stands for no character. */
export function unescapeString(literal: string): string {
  const { raw, body } = bare(literal);
  if (raw) return body;
  return body.replace(ESCAPED, (_, simple, octal, hex, short, long) => {
    if (simple !== undefined) return SIMPLE[simple] as string;
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
    const code = Number.parseInt(hex ?? short ?? long, 16);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) throw new Error('invalid unicode code point');
    return String.fromCodePoint(code);
  });
}

/** In bytes, `\x` and octal escapes are one byte each; all else is UTF-8. */
export function unescapeBytes(literal: string): Uint8Array {
  const { raw, body } = bare(literal.slice(1));
  if (raw) return Buffer.from(body);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const match of body.matchAll(ESCAPED)) {
    parts.push(Buffer.from(body.slice(from, match.index)));
    from = match.index + match[0].length;
    const [, simple, octal, hex, short, long] = match;
    if (short !== undefined || long !== undefined) throw new Error('unable to unescape string');
    if (simple !== undefined) parts.push(Buffer.from(SIMPLE[simple] as string));
    else
      parts.push(Uint8Array.of(octal !== undefined ? Number.parseInt(octal, 8) : Number.parseInt(hex as string, 16)));
  }
  parts.push(Buffer.from(body.slice(from)));
  return Buffer.concat(parts);
}

function bare(literal: string): { raw: boolean; body: string } {
  const raw = literal[0] === 'r' || literal[0] === 'R';
  const text = (raw ? literal.slice(1) : literal).replace(/\r\n|\r/g, '\n');
  const quotes = text.startsWith('"""') || text.startsWith("'''") ? 3 : 1;
  return { raw, body: text.slice(quotes, -quotes) };
}
