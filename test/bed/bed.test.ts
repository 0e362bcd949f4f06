// The harness itself, quickly: the table is sound, a key follows the content, a killed build is not taken for a whole one.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { suites } from '../e2e/suites.ts';
import { keyOf } from './cache.ts';
import { catalog } from './catalog.ts';
import { withLock } from './lock.ts';
import { closure } from './lookup.ts';
import { onPath } from './possibility.ts';
import { sleep, tryRun } from './process.ts';

describe('the catalog', () => {
  test('names every part once, and needs only what stands before', () => {
    const seen = new Set<string>();
    for (const part of catalog) {
      expect(seen.has(part.name)).toBe(false);
      for (const need of part.needs ?? []) expect(seen, `${part.name} needs ${need}`).toContain(need);
      seen.add(part.name);
    }
  });

  test('has every part a suite asks for', () => {
    for (const suite of suites) expect(() => closure(suite.parts)).not.toThrow();
  });

  test('every suite has its file, and every file its suite', () => {
    const files = readdirSync(new URL('../e2e', import.meta.url))
      .filter((name) => name.endsWith('.e2e.ts'))
      .map((name) => name.replace('.e2e.ts', ''));
    expect(files.sort()).toEqual(suites.map((suite) => suite.name).sort());
  });

  test('a closure comes in build order', () => {
    const names = closure(['vcluster-images']).map((part) => part.name);
    expect(names.indexOf('kubernetes')).toBeLessThan(names.indexOf('vcluster-images'));
    expect(names).toContain('node-rootfs');
  });

  test('a part’s key changes with its version and source, and only then', () => {
    const [part] = closure(['small-programs']);
    if (!part) throw new Error('no small-programs');
    expect(keyOf({ ...part, name: 'a' })).toBe(keyOf({ ...part, name: 'a' }));
    expect(keyOf({ ...part, name: 'b', version: '2' })).not.toBe(keyOf({ ...part, name: 'c', version: '3' }));
  });
});

describe('a lock', () => {
  test('is not waited for longer than the clock allows', async () => {
    const name = `test-${process.pid}`;
    await withLock(name, async () => {
      const signal = AbortSignal.timeout(300);
      await expect(withLock(name, async () => 'had it', { signal })).rejects.toThrow(`flock on ${name}`);
    });
    expect(await withLock(name, async () => 'had it')).toBe('had it');
  });
});

describe.runIf(onPath('go'))('building', () => {
  const home = mkdtempSync(join(tmpdir(), 'rookery-bed-test-'));
  const env = { ...process.env, ROOKERY_BED_HOME: home };
  const command = ['--import', 'tsx', 'test/bed/cli.ts', 'build', 'small-programs'];
  const built = (): string[] => (existsSync(join(home, 'parts')) ? readdirSync(join(home, 'parts')) : []);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test('is not begun after the deadline, and says so without failing', { timeout: 60_000 }, async () => {
    const late = await tryRun(process.execPath, [...command, '--deadline', '1'], { env });
    expect(late).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no time: small-programs: the clock ran out'),
    });
    expect(built()).toEqual([]);
  });

  test('killed in the middle, it leaves nothing that is taken for whole', { timeout: 120_000 }, async () => {
    const child = spawn(process.execPath, command, { env, stdio: 'ignore' });
    for (let i = 0; i < 400 && !existsSync(join(home, 'tmp')); i++) await sleep(20);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(built()).toEqual([]);
  });

  test('two at once build it once; the next finds it there', { timeout: 120_000 }, async () => {
    const [one, other] = await Promise.all([
      tryRun(process.execPath, command, { env }),
      tryRun(process.execPath, command, { env }),
    ]);
    expect([one.code, other.code]).toEqual([0, 0]);
    expect(`${one.stdout}${other.stdout}`.match(/built small-programs in/g)).toHaveLength(1);
    expect(built()).toHaveLength(1);
    expect(existsSync(join(home, 'tmp')) ? readdirSync(join(home, 'tmp')) : []).toEqual([]);
    expect((await tryRun(process.execPath, command, { env })).stdout).toContain('1 present, 0 built');
  });
});
