/** `kill -9` while snapshots are taken and gone back to: there is never half a snapshot, nor a state mixed of two. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openStore } from '../../src/apiserver/store/sqlite-store.ts';
import { systemClock as clock } from '../../src/clock.ts';

const ROUNDS = 20;
const dir = mkdtempSync(join(tmpdir(), 'snapshot-crash-'));
const file = join(dir, 'store.db');
const copy = join(dir, 'copy.db');
afterAll(() => rmSync(dir, { recursive: true }));

/** What it said before it was killed. */
function runAndKill(): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const program = join(import.meta.dirname, 'snapshot.child.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', program, file, copy], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let problems = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (out === '') setTimeout(() => child.kill('SIGKILL'), 20 + Math.random() * 150);
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      problems += text;
    });
    child.on('close', (_code, signal) => {
      if (signal === 'SIGKILL') resolve(out.split('\n').slice(0, -1));
      else reject(new Error(`it ended by itself: ${problems}`));
    });
  });
}

async function look(path: string): Promise<{ words: string[]; names: string[]; rv: number }> {
  const store = openStore(path, { clock, retention: false });
  const items = store.list({ resource: '/configmaps' }).items.map((stored) => stored.object());
  const found = {
    words: [...new Set(items.map(({ data }) => data.word))],
    names: items.map((i) => String(i.metadata.name)),
  };
  const { rv } = store;
  await store.close();
  return { ...found, rv };
}

it(`survives ${ROUNDS} kills`, { timeout: 300_000 }, async () => {
  let rv = 0;
  const reached = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const said = await runAndKill();
    const [last = '', at = '0'] = said.at(-1)?.split(' ') ?? [];
    reached.add(last);
    expect(said[0], 'versions go on where they were').toBe(`ready ${rv}`);
    const live = await look(file);
    expect(live.rv).toBeGreaterThanOrEqual(Number(at));
    expect(live.words.length, `${live.words}`).toBeLessThanOrEqual(1);
    if (live.words[0]) expect(live.names).toHaveLength(60);
    rv = live.rv;
    if (!existsSync(copy)) continue;
    const kept = await look(copy);
    expect(kept.words, `${kept.words}`).toHaveLength(1);
    expect(kept.words[0]).toMatch(/^then-/);
    expect(kept.names).toHaveLength(60);
  }
  expect(reached.size, 'killed at different points').toBeGreaterThan(1);
});
