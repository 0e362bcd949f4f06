// `make attack` without its floods: those judge waiting times, and other suites run beside this one.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('every attack but the floods is withstood', { timeout: 600_000 }, () => {
  const program = new URL('../attack/main.ts', import.meta.url).pathname;
  const args = ['--import', 'tsx', program, '--only', '^(?!floods)'];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1e8 });
  const open = stdout.split('\n').filter((line) => line.startsWith('NOT WITHSTOOD'));
  expect({ open, status }, stderr).toEqual({ open: [], status: 0 });
});
