import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ARCHITECTURE, CODES, NUMBER } from './bpf.ts';
import { shellFilter } from './filter.ts';
import { type Architecture, architectures } from './syscalls.ts';

const ALLOWED = 'allowed';
const EPERM = 1;
const ENOSYS = 38;

interface Call {
  number: number;
  audit: number;
  args?: number[];
}

/** What the kernel does with a filter, for the instructions that there are. */
function run(program: Buffer, { number, audit, args = [] }: Call): typeof ALLOWED | number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, NUMBER);
  data.writeUInt32LE(audit, ARCHITECTURE);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < program.length; at += 8) {
    const [code, value] = [program.readUInt16LE(at), program.readUInt32LE(at + 4)];
    if (code === CODES.answer) return value === 0x7fff0000 ? ALLOWED : value & 0xffff;
    if (code === CODES.load) loaded = data.readUInt32LE(value);
    else at += 8 * program.readUInt8(at + (holds(code, loaded, value) ? 2 : 3));
  }
  throw new Error('the filter ends without an answer');
}

function holds(code: number, loaded: number, value: number): boolean {
  if (code === CODES.equal) return loaded === value;
  if (code === CODES.atLeast) return loaded >= value;
  if (code === CODES.anyBit) return (loaded & value) !== 0;
  throw new Error(`an unknown instruction ${code}`);
}

describe.each(Object.keys(architectures))('the filter for %s', (name) => {
  const architecture = architectures[name] as Architecture;
  const { audit, numbers } = architecture;
  const program = shellFilter(architecture);
  const ask = (call: string, ...args: number[]) => run(program, { number: numbers[call] as number, audit, args });

  it('refuses what administers the machine or leaves the sandbox, and nothing else', () => {
    const special = ['ioctl', 'socket', 'clone', 'clone3', 'personality', 'prctl'];
    const named = Object.keys(numbers).filter((call) => !special.includes(call));
    expect(named.filter((call) => ask(call) !== EPERM)).toEqual([]);
    const others = [...Array(470).keys()].filter((number) => !Object.values(numbers).includes(number));
    expect(others.filter((number) => run(program, { number, audit }) !== ALLOWED)).toEqual([]);
  });

  it('allows new processes and threads, but no new namespaces', () => {
    const thread = 0x3d0f00;
    expect(ask('clone', thread)).toBe(ALLOWED);
    expect(ask('clone', 17)).toBe(ALLOWED);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(ask('clone', flag | 17)).toBe(EPERM);
    }
    expect(ask('clone3')).toBe(ENOSYS);
  });

  it('looks at arguments', () => {
    expect(ask('personality', 0)).toBe(ALLOWED);
    expect(ask('personality', 0xffffffff)).toBe(ALLOWED);
    expect(ask('personality', 0x0400000)).toBe(EPERM);
    for (const family of [1, 2, 10, 16]) expect(ask('socket', family)).toBe(ALLOWED);
    const [vsock, alg, packet] = [40, 38, 17];
    for (const family of [vsock, alg, packet]) expect(ask('socket', family)).toBe(97);
    expect(ask('ioctl', 0, 0x5413)).toBe(ALLOWED);
    expect(ask('ioctl', 0, 0x5412)).toBe(EPERM);
    // The kernel looks at 32 bits of it, and so does the filter.
    expect(ask('ioctl', 0, 0x1_0000_5412)).toBe(EPERM);
  });

  it('refuses the tables of other architectures', () => {
    expect(run(program, { number: 1, audit: 0x40000003 })).toBe(EPERM);
    if (name === 'x64') expect(run(program, { number: 0x40000000 | 1, audit })).toBe(EPERM);
  });

  const header = { x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h', arm64: '/usr/include/asm-generic/unistd.h' };
  const file = header[name as keyof typeof header];
  it.runIf(existsSync(file))('has the numbers of the kernel headers', () => {
    const text = readFileSync(file, 'utf8');
    const found = [...text.matchAll(/#define __NR(?:3264)?_(\w+)\s+(\d+)/g)].map(([, call, number]) => [call, number]);
    const known = new Map(found as [string, string][]);
    // Headers older than a call do not have it.
    const wrong = Object.entries(numbers).filter(([call, number]) => Number(known.get(call) ?? number) !== number);
    expect(wrong).toEqual([]);
    expect(known.size).toBeGreaterThan(200);
  });
});
