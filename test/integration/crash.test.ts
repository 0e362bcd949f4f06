/**
 * `kill -9` of a whole server under write load over HTTPS, twenty times on one folder: what was acknowledged is there
 * after the restart, and a client that resumes its watch sees every change once and in order.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Http } from '../harness/http.ts';

const ROUNDS = 20;
const WRITERS = 8;
const MAPS = '/api/v1/namespaces/default/configmaps';

const folder = mkdtempSync(join(tmpdir(), 'rookery-crash-'));
let running: ChildProcess | undefined;
afterAll(() => {
  running?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Seen {
  rv: number;
  type: string;
  name: string;
  n: string;
}

interface Acknowledged {
  rv: number;
  name: string;
  n: string;
}

async function start(port: number): Promise<{ child: ChildProcess; http: Http; problems: () => string }> {
  const program = join(import.meta.dirname, '..', 'harness', 'server.child.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, folder, String(port)]);
  running = child;
  let problems = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    problems += text;
  });
  const line = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.includes('\n')) resolve(out);
    });
    child.on('close', (code) => reject(new Error(`the server ended with ${code}: ${problems}`)));
  });
  const { url, caPem, token } = JSON.parse(line);
  return { child, http: new Http(url, caPem, token), problems: () => problems };
}

/** Creates, changes and deletes objects of its own until the server is gone. */
async function write(http: Http, who: string, acknowledged: Acknowledged[]): Promise<void> {
  try {
    for (let i = 0; ; i++) {
      const name = `${who}-${i}`;
      const body = (n: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { n } });
      const ack = (
        answer: { status: number; text: string; json: { metadata: { resourceVersion: string } } },
        n: string,
      ) => {
        expect(answer.status, answer.text).toBeLessThan(300);
        acknowledged.push({ rv: Number(answer.json.metadata.resourceVersion), name, n });
      };
      ack(await http.post(MAPS, body('0')), '0');
      ack(await http.patch(`${MAPS}/${name}`, 'merge', { data: { n: '1' } }), '1');
      ack(await http.put(`${MAPS}/${name}`, body('2')), '2');
      if (i % 3 === 0) {
        const gone = await http.delete(`${MAPS}/${name}`);
        expect(gone.status).toBe(200);
        acknowledged.push({ rv: 0, name, n: 'deleted' });
      }
    }
  } catch (error) {
    if ((error as { code?: string }).code === undefined && !(error as Error).message.includes('aborted')) throw error;
  }
}

it(`loses nothing in ${ROUNDS} kills`, { timeout: 300_000 }, async () => {
  const seen: Seen[] = [];
  const acknowledged: Acknowledged[] = [];
  let { child, http, problems } = await start(0);
  const port = Number(new URL(http.url).port);
  let last = Number((await http.get(MAPS)).json.metadata.resourceVersion);

  const follow = async () => {
    const watch = await http.watch(`${MAPS}?watch=1&resourceVersion=${last}&allowWatchBookmarks=true`);
    expect(watch.answer.statusCode).toBe(200);
    const reading = (async () => {
      for await (const { type, object } of watch) {
        last = Number(object.metadata.resourceVersion);
        if (type !== 'BOOKMARK') seen.push({ rv: last, type, name: object.metadata.name, n: object.data?.n });
      }
    })();
    return { watch, reading };
  };

  for (let round = 0; round < ROUNDS; round++) {
    const { reading } = await follow();
    const writing = Array.from({ length: WRITERS }, (_, i) => write(http, `r${round}w${i}`, acknowledged));
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 400));
    expect(problems(), 'failures of the server itself').toBe('');
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await Promise.all([...writing, reading, closed]);
    http.close();
    ({ child, http, problems } = await start(port));
  }

  const { watch, reading } = await follow();
  const end = (await http.get(MAPS)).json;
  const rv = Number((await http.post(MAPS, { metadata: { name: 'the-end' } })).json.metadata.resourceVersion);
  await expect.poll(() => last, { timeout: 20_000 }).toBe(rv);
  watch.close();
  await reading;

  // In order, none twice.
  for (let i = 1; i < seen.length; i++) expect(seen[i]?.rv).toBeGreaterThan(seen[i - 1]?.rv as number);
  // None of the acknowledged writes is missing, and each says what was written.
  const byVersion = new Map(seen.map((event) => [event.rv, event]));
  const deletions = new Set(seen.filter((event) => event.type === 'DELETED').map((event) => event.name));
  for (const { rv, name, n } of acknowledged) {
    if (n === 'deleted') expect(deletions.has(name), `the deletion of ${name}`).toBe(true);
    else expect(byVersion.get(rv), `version ${rv} of ${name}`).toMatchObject({ name, n });
  }
  // Replayed, the events give exactly what is stored: none was lost that nobody acknowledged either.
  const state = new Map<string, string>();
  for (const { type, name, n } of seen) {
    if (type === 'DELETED') state.delete(name);
    else if (name !== 'the-end') state.set(name, n);
  }
  const stored = (end.items as { metadata: { name: string }; data: { n: string } }[])
    .filter((item) => item.metadata.name !== 'kube-root-ca.crt')
    .map((item) => [item.metadata.name, item.data.n] as const);
  expect(new Map(stored)).toEqual(state);
  expect(acknowledged.length).toBeGreaterThan(ROUNDS * WRITERS);
  http.close();
});
