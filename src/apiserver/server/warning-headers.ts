/** Warnings as headers: each once, and cut short where all together would be too much for a client to take. */

const TOTAL_LENGTH = 4 * 1024;
const SHORT_LENGTH = 256;

export function warningHeaders(texts: readonly string[]): string[] {
  const distinct = [...new Set(texts)].filter((text) => text !== '' && !hasControl(text)).map((text) => [...text]);
  const total = distinct.reduce((sum, text) => sum + text.length, 0);
  if (total <= TOTAL_LENGTH) return distinct.map(headerOf);
  const headers: string[] = [];
  let written = 0;
  for (const text of distinct) {
    if (written >= TOTAL_LENGTH) break;
    const short = text.slice(0, SHORT_LENGTH);
    written += short.length;
    headers.push(headerOf(short));
  }
  return headers;
}

/** No header may hold them; the warning is dropped. */
function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Code, no agent, and a quoted string. Node writes one byte for each character: so these are those of UTF-8. */
function headerOf(text: string[]): string {
  const quoted = `"${text.join('').replace(/[\\"]/g, '\\$&')}"`;
  return `299 - ${Buffer.from(quoted).toString('latin1')}`;
}
