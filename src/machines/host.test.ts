// Both kinds of machines answer alike. The other end of SSH is the library's own server, in this process.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../clock.ts';
import { systemProcesses } from '../tools/processes.ts';
import type { Host } from './host.ts';
import { HostRun } from './host-run.ts';
import { LocalHost } from './local-host.ts';
import { SshHost } from './ssh/ssh-host.ts';
import { newKey, newPemKey, sshServer, type TestSshServer } from './testing/ssh-server.ts';
import { Transfers } from './transfers.ts';

const folder = mkdtempSync(join(tmpdir(), 'host-'));
let server: TestSshServer;
const opened: SshHost[] = [];

function ssh(
  options: { port?: number; key?: string; hostKey?: string; onFirstKey?: (key: string) => void } = {},
): SshHost {
  const { port = server.port, key = server.clientKey, hostKey, onFirstKey } = options;
  const target = { address: '127.0.0.1', port, user: 'anyone', key, hostKey };
  const host = new SshHost(target, { clock: systemClock, connectMs: 5000, onFirstKey });
  opened.push(host);
  return host;
}

beforeAll(async () => {
  server = await sshServer();
});
afterAll(async () => {
  for (const host of opened) host.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const kinds: [string, () => Host][] = [
  ['this machine', () => new LocalHost(systemProcesses())],
  ['a machine over SSH', () => ssh()],
];

describe.each(kinds)('%s', (title, open) => {
  const place = (name: string) => join(folder, `${title.replaceAll(' ', '-')}-${name}`);
  let host: Host;
  beforeAll(() => {
    host = open();
  });

  it('runs scripts with arguments and input, and tells how they ended', async () => {
    const script = 'read -r line; printf "%s|" "$@" "$line"; echo trouble >&2; exit 3';
    const args = ['a b', "it's", '$HOME "x" \\'];
    const heard: string[] = [];
    const result = await host.run(script, { args, input: 'from outside\n', onOutput: (text) => heard.push(text) });
    expect(result).toEqual({ code: 3, stdout: `a b|it's|$HOME "x" \\|from outside|`, stderr: 'trouble\n' });
    expect(heard.join('')).toContain('from outside');
  });

  it('hears every answer, also those that come at once, and Node warns of nothing', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', onWarning);
    const codes = await Promise.all(Array.from({ length: 30 }, (_, index) => host.run(`exit ${index}`)));
    expect(codes.map(({ code }) => code)).toEqual(Array.from({ length: 30 }, (_, index) => index));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('ends scripts that take too long, and those nobody waits for any more', async () => {
    await expect(host.run('sleep 60', { timeoutMs: 200 })).rejects.toMatchObject({ class: 'retryable' });
    const controller = new AbortController();
    const running = host.run('sleep 60', { signal: controller.signal });
    await sleep(systemClock, 50);
    controller.abort(new Error('not needed'));
    await expect(running).rejects.toThrow('not needed');
  });

  it('puts and reads files with their mode', async () => {
    const path = place('put/secret');
    await host.put(path, 'one\ntwo', 0o640);
    expect(await host.read(path)).toBe('one\ntwo');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(existsSync(`${path}.new`)).toBe(false);
    expect(await host.read(place('absent'))).toBeUndefined();
  });

  it('copies a file, goes on where it was cut off, and begins again where another one lies', async () => {
    const file = place('source');
    const path = place('target');
    const content = randomBytes(3_000_000);
    writeFileSync(file, content);
    await host.upload(file, path, { mode: 0o600 });
    expect(readFileSync(path).equals(content)).toBe(true);
    writeFileSync(path, content.subarray(0, 1_234_567));
    const seen: number[] = [];
    await host.upload(file, path, { mode: 0o600, onProgress: (bytes) => seen.push(bytes) });
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(seen[0]).toBeGreaterThan(1_234_567);
    writeFileSync(path, Buffer.concat([content, content]));
    await host.upload(file, path, { mode: 0o600 });
    expect(readFileSync(path).equals(content)).toBe(true);
  });

  it('counts a file as brought only when its SHA-256 is right', async () => {
    const transfers = new Transfers();
    const file = place('program');
    writeFileSync(file, 'the program');
    const bring = async (path: string, sha256: string) => {
      for (;;) {
        const state = transfers.bring(host, { file, path, sha256, size: 11, mode: 0o755 });
        if (state.state !== 'under way') return state;
        await sleep(systemClock, 10);
      }
    };
    const right = createHash('sha256').update('the program').digest('hex');
    expect(await bring(place('good'), right)).toEqual({ state: 'done' });
    expect(statSync(place('good')).mode & 0o777).toBe(0o755);
    const wrong = await bring(place('bad'), 'f'.repeat(64));
    expect(wrong).toMatchObject({ state: 'failed', error: { code: 'host.transfer' } });
    expect([existsSync(place('bad')), existsSync(`${place('bad')}.part`)]).toEqual([false, false]);
    // The rest of it fits, and yet it is another file: the machine itself looks at what was cut off before.
    writeFileSync(`${place('half')}.part`, 'another');
    expect(await bring(place('half'), right)).toMatchObject({ state: 'failed', error: { code: 'host.transfer' } });
    expect(await bring(place('half'), right)).toEqual({ state: 'done' });
    expect(readFileSync(place('half'), 'utf8')).toBe('the program');
  });

  it('goes on with long work when nobody is there, and says how it ended', async () => {
    const where = place('run');
    mkdirSync(where);
    const run = () => new HostRun(open(), where, systemClock);
    const poll = <T>(ask: () => Promise<T>) => expect.poll(ask, { timeout: 15_000 });
    expect(await run().read()).toMatchObject({ state: 'none', attempt: 0 });
    await run().start('echo "begun $1"; while [ ! -e "$2" ]; do sleep 0.05; done; exit 4', ['well', `${where}/go`], {
      task: 'x',
    });
    server.cut();
    await poll(async () => (await run().read()).output).toBe('begun well\n');
    expect(await run().read()).toMatchObject({ state: 'running', attempt: 1, note: { task: 'x' } });
    writeFileSync(`${where}/go`, '');
    await poll(async () => (await run().read()).state).toBe('ended');
    expect(await run().read()).toMatchObject({ code: 4, output: 'begun well\n', endedAt: expect.any(Number) });
    await run().start('sleep 60', [], {});
    await poll(() => run().stop()).toBe(true);
    await poll(async () => (await run().read()).state).toBe('lost');
    expect(await run().read()).toMatchObject({ attempt: 2 });
  });
});

describe('a machine that cannot be used says why', () => {
  const code = (host: Host) =>
    host.run('true').then(
      () => 'none',
      (error) => error.code,
    );

  it('tells a refused connection, a key it does not know and a key nobody can read apart', async () => {
    expect(await code(ssh({ port: 1 }))).toBe('host.connection-refused');
    expect(await code(ssh({ key: newKey() }))).toBe('host.authentication-failed');
    expect(await code(ssh({ key: newPemKey() }))).toBe('host.authentication-failed');
    expect(await code(ssh({ key: 'no key at all' }))).toBe('host.key-invalid');
  });

  it('remembers the key it saw first, and refuses another', async () => {
    let first = '';
    const host = ssh({ onFirstKey: (key) => (first = key) });
    expect(await code(host)).toBe('none');
    expect(first).toMatch(/^SHA256:[0-9A-Za-z+/]{43}$/);
    expect(await code(ssh({ hostKey: first }))).toBe('none');
    expect(await code(ssh({ hostKey: `SHA256:${'A'.repeat(43)}` }))).toBe('host.key-changed');
    const other = await sshServer({ clientKey: server.clientKey });
    const moved = ssh({ port: other.port, hostKey: first });
    await expect(moved.run('true')).rejects.toMatchObject({ message: expect.stringContaining(first) });
    await other.close();
  });

  it('notices that the line broke, and connects again', async () => {
    const host = ssh();
    const heard: string[] = [];
    const running = host.run('echo begun; sleep 60', { onOutput: (text) => heard.push(text) });
    await expect.poll(() => heard, { timeout: 15_000 }).toEqual(['begun\n']);
    server.cut();
    await expect(running).rejects.toMatchObject({ code: 'host.connection-lost' });
    expect((await host.run('echo back')).stdout).toBe('back\n');
  });
});
