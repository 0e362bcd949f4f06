import { expect, it } from 'vitest';
import { privilegesOf } from '../../privileged/privileged.ts';
import type { Processes } from '../../tools/processes.ts';
import { findContainment } from './containment.ts';
import { checkShells } from './shell-checks.ts';

/** A machine on which what holds one of these words fails. */
const machine = (...failing: string[]): Processes =>
  ({
    env: {},
    async run(program: string, args: readonly string[]) {
      const isFailing = failing.some((word) => [program, ...args].includes(word));
      return { code: isFailing ? 1 : 0, stdout: '', stderr: isFailing ? 'not permitted\nmore' : '' };
    },
  }) as unknown as Processes;

const onLinux = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

it.runIf(onLinux)('finds what holds, as root and without', async () => {
  for (const [user, isolation] of [
    [0, 'root'],
    [1000, 'user'],
  ] as const) {
    const processes = machine();
    const found = await findContainment(processes, privilegesOf(processes, user));
    expect(found).toMatchObject({ isolation, hasNetwork: true, gaps: [] });
    expect(found.filter).toBeDefined();
  }
});

it.runIf(onLinux).each([
  ['--user', ['shells are not kept apart from each other'], 'none', false],
  ['--net', ['shells use the network of this machine'], 'user', false],
  ['setpriv', ['system calls of shells are not filtered'], 'user', true],
])('says what does not hold without %s', async (word, gaps, isolation, hasNetwork) => {
  const processes = machine(word);
  const privileged = privilegesOf(processes, 1000);
  const found = await findContainment(processes, privileged);
  expect(found).toMatchObject({ isolation, hasNetwork });
  expect(found.gaps.map(({ what }) => what)).toEqual(gaps.map((text) => expect.stringContaining(text)));
  expect(found.gaps.map(({ why }) => why)).toEqual(['not permitted']);
  expect(await checkShells(processes, privileged)).toEqual([
    expect.objectContaining({ name: 'workspace shells', state: 'warn', fix: expect.any(String) }),
  ]);
});
