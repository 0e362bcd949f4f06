/** IP addresses as the bytes certificates carry. */
import { isIPv4 } from 'node:net';

/** 4 or 16 bytes of a valid address. */
export function ipBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const plain = address.replace(/%.*$/, '');
  const tail = plain.slice(plain.lastIndexOf(':') + 1);
  // ::ffff:10.0.0.1 is ::ffff:0a00:0001.
  const text = isIPv4(tail)
    ? plain.slice(0, -tail.length) + (ipBytes(tail).toString('hex').match(/.{4}/g) ?? []).join(':')
    : plain;
  const [head = '', rest] = text.split('::');
  const left = head ? head.split(':') : [];
  const right = rest ? rest.split(':') : [];
  const zeros = rest === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

export function ipText(bytes: Buffer): string {
  if (bytes.length === 4) return [...bytes].join('.');
  if (bytes.length !== 16) throw new Error(`an IP address has 4 or 16 bytes, not ${bytes.length}`);
  const groups = bytes.toString('hex').match(/.{4}/g) ?? [];
  // The URL parser knows the canonical form (RFC 5952).
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
