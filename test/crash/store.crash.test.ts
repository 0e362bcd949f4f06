/** `kill -9` under load, twenty times on one file: what was acknowledged stays, and a watcher that resumes misses nothing. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openStore } from '../../src/apiserver/store/sqlite-store.ts';
import { systemClock } from '../../src/clock.ts';

const ROUNDS = 20;
const dir = mkdtempSync(join(tmpdir(), 'crash-'));
afterAll(() => rmSync(dir, { recursive: true }));

interface Line {
  rv: number;
  text: string;
}

/** Runs a writer, kills it at a random time after it began, and returns its complete lines. */
function runAndKill(file: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(
      process.execPath,
      ['--import', 'tsx', join(import.meta.dirname, 'store.child.ts'), file],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let out = '';
    let problems = '';
    let armed = false;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (armed || !out.includes('\n')) return;
      armed = true;
      setTimeout(() => child.kill('SIGKILL'), 20 + Math.random() * 400);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      problems += text;
    });
    child.on('close', (_code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the writer ended by itself: ${problems}`));
      else resolve(out.split('\n').slice(0, -1));
    });
  });
}

const lines = (all: string[], word: string): Line[] =>
  all
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => {
      const [, rv, ...rest] = line.split(' ');
      return { rv: Number(rv), text: rest.join(' ') };
    });

it(`survives ${ROUNDS} kills`, { timeout: 300_000 }, async () => {
  const file = join(dir, 'store.db');
  /** What every key holds, as the events told. */
  const state = new Map<string, string>();
  let rv = 0;
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const output = await runAndKill(file);
    expect(output[0]).toBe(`ready ${rv}`);
    const seen = lines(output, 'saw');
    const acks = lines(output, 'ack');
    acknowledged += acks.length;

    const store = openStore(file, { clock: systemClock, retention: false });
    const resumed: Line[] = [];
    store.watch({ afterRv: seen.at(-1)?.rv ?? rv }, ({ type, current }) =>
      resumed.push({ rv: current.rv, text: `${type} ${current.key.name} ${current.object().spec.n}` }),
    );
    // A turn or more of history, then one live event, which this test counts too.
    const key = { resource: '/configmaps', namespace: 'default', name: 'between' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, spec: { n: `round-${round}` } };
    await store.write((tx) => tx.put(key, object));
    while ((resumed.at(-1)?.rv ?? 0) < store.rv) await new Promise((resolve) => setTimeout(resolve, 5));

    // Each version once, in order, none missing: before the kill and after it together.
    const events = [...seen, ...resumed];
    expect(events.map((event) => event.rv)).toEqual(Array.from({ length: store.rv - rv }, (_, i) => rv + 1 + i));
    const texts = new Map(events.map((event) => [event.rv, event.text]));
    for (const ack of acks) expect(texts.get(ack.rv)?.endsWith(` ${ack.text}`), `ack ${ack.rv}`).toBe(true);

    for (const { text } of events) {
      const [type, name = '', n = ''] = text.split(' ');
      if (type === 'DELETED') state.delete(name);
      else state.set(name, n);
    }
    const held = store.list({ resource: '/configmaps' }).items.map((item) => [item.key.name, item.object().spec.n]);
    expect(Object.fromEntries(held)).toEqual(Object.fromEntries(state));
    expect(store.count('/configmaps')).toBe(state.size);
    rv = store.rv;
    await store.close();
  }
  expect(acknowledged).toBeGreaterThan(ROUNDS);
});
