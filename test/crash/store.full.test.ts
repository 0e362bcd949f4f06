/** A disk that is full, for real: the file size limit of the process, lifted later. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openStore } from '../../src/apiserver/store/sqlite-store.ts';
import { systemClock } from '../../src/clock.ts';

const dir = mkdtempSync(join(tmpdir(), 'full-'));
afterAll(() => rmSync(dir, { recursive: true }));

it('fails writes as retryable, keeps the rest, and goes on when there is room', { timeout: 60_000 }, async () => {
  const file = join(dir, 'store.db');
  const child = spawn(
    'bash',
    [
      '-c',
      'trap "" XFSZ; ulimit -S -f 400; exec "$@"',
      'bash',
      process.execPath,
      '--import',
      'tsx',
      join(import.meta.dirname, 'store.full.child.ts'),
      file,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let out = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    out += text;
    if (!text.includes('full')) continue;
    execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
    child.stdin.end();
  }
  const told = JSON.parse(out.split('\n').at(-2) ?? '{}');
  expect(told).toMatchObject({ retry: true, gapless: true, sameAfterFailure: true });
  const store = openStore(file, { clock: systemClock });
  expect(store.rv).toBe(told.rv);
  expect(store.count('/configmaps')).toBe(told.rv);
  await store.close();
});
