/** The few instructions of classic BPF that a seccomp filter needs, as the bytes the kernel takes (`struct sock_filter`). */
export interface Instruction {
  code: number;
  /** How many instructions are skipped when the comparison holds, and when it does not. */
  whenTrue: number;
  whenFalse: number;
  value: number;
}

/** What the kernel shows of a call (`struct seccomp_data`): offsets of 32-bit words. */
export const NUMBER = 0;
export const ARCHITECTURE = 4;
/** Low half of an argument; flags and constants are all in it. Both architectures are little-endian. */
export const argument = (index: number): number => 16 + 8 * index;

export const CODES = { load: 0x20, equal: 0x15, atLeast: 0x35, anyBit: 0x45, answer: 0x06 } as const;

const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;

const instruction = (code: number, value: number, whenTrue = 0, whenFalse = 0): Instruction => ({
  code,
  whenTrue,
  whenFalse,
  value,
});

export const load = (offset: number): Instruction => instruction(CODES.load, offset);
export const allow = (): Instruction => instruction(CODES.answer, ALLOW);
export const refuse = (errno: number): Instruction => instruction(CODES.answer, ERRNO + errno);

/** What follows when the comparison holds; otherwise the program goes on after it. */
export function when(
  comparison: 'equal' | 'atLeast' | 'anyBit',
  value: number,
  then: readonly Instruction[],
): Instruction[] {
  return [instruction(CODES[comparison], value, 0, then.length), ...then];
}

/** What follows unless the comparison holds. */
export function unless(comparison: 'equal', value: number, then: readonly Instruction[]): Instruction[] {
  return [instruction(CODES[comparison], value, then.length, 0), ...then];
}

export function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, whenTrue, whenFalse, value }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
