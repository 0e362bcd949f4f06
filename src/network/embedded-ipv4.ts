/** IPv4 addresses inside of IPv6 addresses: a translator or tunnel on the way takes them out and goes there. */

/** Where prefixes of each length put the IPv4 address (RFC 6052, 2.2). Byte 8 is always zero and skipped. */
const TRANSLATED: readonly (readonly [number, number, number, number])[] = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
];
const LAST = [12, 13, 14, 15] as const;

/** The 16 bytes of an IPv6 address without a zone. */
export function addressBytes(address: string): Buffer {
  // The last group may be an IPv4 address.
  const groups = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) => {
    const pair = (high: string, low: string) => ((Number(high) << 8) | Number(low)).toString(16);
    return `${pair(a, b)}:${pair(c, d)}`;
  });
  const [head = '', tail] = groups.split('::', 2);
  const before = head ? head.split(':') : [];
  const after = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const words = [...before, ...Array<string>(zeros).fill('0'), ...after];
  const bytes = Buffer.alloc(16);
  for (const [index, word] of words.entries()) bytes.writeUInt16BE(Number.parseInt(word, 16), index * 2);
  return bytes;
}

export function embeddedIPv4(bytes: Buffer): string[] {
  const at = (places: readonly number[]) => places.map((place) => bytes[place]).join('.');
  const starts = (prefix: string) => bytes.toString('hex').startsWith(prefix);
  const found: string[] = [];
  // Compatible, mapped, translated (SIIT), and the well-known prefix of NAT64.
  const inLast = ['0'.repeat(24), `${'0'.repeat(20)}ffff`, `${'0'.repeat(16)}ffff0000`, `0064ff9b${'0'.repeat(16)}`];
  if (inLast.some(starts)) found.push(at(LAST));
  // NAT64 of a local network: the length of its prefix is not known here.
  if (starts('0064ff9b0001')) found.push(...TRANSLATED.map(at));
  // 6to4.
  if (starts('2002')) found.push(at([2, 3, 4, 5]));
  // Teredo: the server, and the client with its bits inverted.
  if (starts('20010000')) found.push(at([4, 5, 6, 7]), LAST.map((place) => 255 - (bytes[place] ?? 0)).join('.'));
  // ISATAP.
  const marker = bytes.readUInt32BE(8);
  if (marker === 0x00005efe || marker === 0x02005efe) found.push(at(LAST));
  return found;
}
