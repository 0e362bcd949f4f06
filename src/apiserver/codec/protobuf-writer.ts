/**
 * Writes the protobuf wire format from the end towards the start: when a message is closed its length is known, so
 * nothing is measured twice or moved. Callers therefore write fields, and the items of lists, last one first.
 */
import { BYTES, FIXED64, VARINT } from './protobuf-reader.ts';

const FIRST_SIZE = 1024;

export class Writer {
  #buffer = Buffer.allocUnsafe(FIRST_SIZE);
  /** Where what is written begins. */
  #start = FIRST_SIZE;

  /** Bytes written so far; the mark a message is closed with. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  /** Everything written, as a copy of its own size; the writer is empty again. */
  finish(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(this.#start));
    this.#start = this.#buffer.length;
    return bytes;
  }

  bool(number: number, value: boolean): void {
    this.#varint(value ? 1 : 0);
    this.#tag(number, VARINT);
  }

  /** Any whole number that is safe in JavaScript; negative ones take ten bytes, as protobuf has it. */
  int(number: number, value: number): void {
    if (value >= 0) this.#varint(value);
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    this.#tag(number, VARINT);
  }

  double(number: number, value: number): void {
    this.#reserve(8);
    this.#buffer.writeDoubleLE(value, this.#start);
    this.#tag(number, FIXED64);
  }

  string(number: number, value: string): void {
    const size = value.length < 48 ? shortLength(value) : Buffer.byteLength(value);
    this.#reserve(size);
    this.#buffer.write(value, this.#start, size, size === value.length ? 'latin1' : 'utf8');
    this.#varint(size);
    this.#tag(number, BYTES);
  }

  bytes(number: number, value: Buffer): void {
    this.#reserve(value.length);
    value.copy(this.#buffer, this.#start);
    this.#varint(value.length);
    this.#tag(number, BYTES);
  }

  /** Bytes as they are, without number and length. */
  raw(value: Buffer): void {
    this.#reserve(value.length);
    value.copy(this.#buffer, this.#start);
  }

  /** Closes the message whose content was written since `mark` (an earlier `length`). */
  close(number: number, mark: number): void {
    this.opening(number, this.length - mark);
  }

  /** How a field of `length` bytes begins. */
  opening(number: number, length: number): void {
    this.#varint(length);
    this.#tag(number, BYTES);
  }

  #tag(number: number, wireType: number): void {
    this.#varint(number * 8 + wireType);
  }

  #varint(value: number): void {
    if (value < 0x80) {
      this.#reserve(1);
      this.#buffer[this.#start] = value;
      return;
    }
    if (value > 0x7fffffff) return this.#bigVarint(BigInt(value));
    const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    this.#reserve(size);
    let at = this.#start;
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) this.#buffer[at++] = (rest & 0x7f) | 0x80;
    this.#buffer[at] = rest;
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.raw(Buffer.from(bytes));
  }

  #reserve(size: number): void {
    if (size > this.#start) {
      const written = this.length;
      const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#buffer.length + size));
      this.#buffer.copy(larger, larger.length - written, this.#start);
      this.#buffer = larger;
      this.#start = larger.length - written;
    }
    this.#start -= size;
  }
}

/** A call out of JavaScript costs more than looking at a few characters. */
function shortLength(text: string): number {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return Buffer.byteLength(text);
  return text.length;
}
