/** Reads the protobuf wire format from one buffer. Every step is checked against `end`: bad input throws, never overruns. */

export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

export const VARINT = 0;
export const FIXED64 = 1;
export const BYTES = 2;
const FIXED32 = 5;

export class Reader {
  readonly buffer: Buffer;
  position: number;
  /** Where the message being read ends; nested messages narrow it. */
  end: number;

  constructor(buffer: Buffer, start: number, end = buffer.length) {
    this.buffer = buffer;
    this.position = start;
    this.end = end;
  }

  /** A varint of at most 32 bits: tags and lengths. */
  uint32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (value > 0xffffffff) break;
        return value;
      }
    }
    throw new MalformedError('proto: integer overflow');
  }

  /** A signed varint as a number; exact up to 2^53, which is all JSON carries for us. */
  int64(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      const bits = byte & 0x7f;
      if (shift < 28) low += bits * 2 ** shift;
      else if (shift === 28) {
        low += (bits & 0x0f) * 2 ** 28;
        high = bits >> 4;
      } else if (shift < 63) high += bits * 2 ** (shift - 32);
      else high += (bits & 1) * 2 ** 31;
      if (byte < 0x80) return high >= 2 ** 31 ? negative(low, high) : high * 2 ** 32 + low;
    }
    throw new MalformedError('proto: integer overflow');
  }

  double(): number {
    const start = this.position;
    this.#advance(8);
    return this.buffer.readDoubleLE(start);
  }

  /** Reads a length and returns where those bytes end, without moving past them. */
  length(): number {
    const stop = this.uint32() + this.position;
    if (stop > this.end) throw new MalformedError('unexpected EOF');
    return stop;
  }

  string(): string {
    const stop = this.length();
    const value = this.buffer.toString('utf8', this.position, stop);
    this.position = stop;
    return value;
  }

  bytes(): Buffer {
    const stop = this.length();
    const value = this.buffer.subarray(this.position, stop);
    this.position = stop;
    return value;
  }

  /** Passes over a field this server does not know. */
  skip(wireType: number): void {
    if (wireType === VARINT) this.int64();
    else if (wireType === FIXED64) this.#advance(8);
    else if (wireType === BYTES) this.position = this.length();
    else if (wireType === FIXED32) this.#advance(4);
    else throw new MalformedError(`proto: illegal wireType ${wireType}`);
  }

  #byte(): number {
    if (this.position >= this.end) throw new MalformedError('unexpected EOF');
    return this.buffer[this.position++] as number;
  }

  #advance(count: number): void {
    if (this.position + count > this.end) throw new MalformedError('unexpected EOF');
    this.position += count;
  }
}

/** Two's complement from unsigned halves; `-0` must not come out of it. */
function negative(low: number, high: number): number {
  return (high - 2 ** 32) * 2 ** 32 + low;
}
