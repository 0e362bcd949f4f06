// client-go's own shared informer, in an unmodified Go program, on our server: it sees every change once, and goes on when the server is killed and comes back.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { program } from '../bed/environment.ts';
import { waitFor } from '../bed/process.ts';
import { OwnServer } from './support/own-server.ts';

interface Line {
  readonly event: 'synced' | 'add' | 'update' | 'delete' | 'list';
  readonly name?: string;
  readonly resourceVersion?: string;
  readonly names?: string[];
}

describe('an informer of client-go', () => {
  const server = new OwnServer('client-go');
  const seen: Line[] = [];
  let informer: ChildProcess;

  const of = (event: Line['event']): string[] =>
    seen.filter((line) => line.event === event).map((line) => line.name ?? '');
  const create = (...names: string[]): Promise<void> =>
    server.kubectl.apply(
      ...names.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } })),
    );
  const names = (prefix: string): string[] =>
    Array.from({ length: 20 }, (_, i) => `${prefix}-${String(i).padStart(2, '0')}`);

  beforeAll(async () => {
    await server.start();
    await create(...names('before'));
    informer = spawn(program('informer', 'informer'), ['-kubeconfig', server.kubeconfig], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: informer.stdout as NodeJS.ReadableStream }).on('line', (line) =>
      seen.push(JSON.parse(line) as Line),
    );
  });
  afterAll(async () => {
    informer?.kill('SIGKILL');
    await server.close();
  });

  test('starts with what there is, and says when it is in step', async () => {
    await waitFor('the informer to be in step', 30_000, async () => seen.some((line) => line.event === 'synced'));
    await waitFor('all that was there', 10_000, async () => names('before').every((name) => of('add').includes(name)));
  });

  test('sees each change once', async () => {
    await create(...names('live'));
    await server.kubectl.run('label', 'configmap', 'live-00', 'marked=yes');
    await server.kubectl.run('delete', 'configmap', 'live-19');
    await waitFor('the deletion', 20_000, async () => of('delete').includes('live-19'));
    expect(
      of('add')
        .filter((name) => name.startsWith('live-'))
        .sort(),
    ).toEqual(names('live'));
    expect(of('update').filter((name) => name.startsWith('live-'))).toEqual(['live-00']);
  });

  test('goes on when the server was killed, three times, and misses nothing', async () => {
    for (const round of ['one', 'two', 'three']) {
      await create(...names(`${round}-before`));
      await server.kill();
      await server.start();
      await create(...names(`${round}-after`));
      await server.kubectl.run('delete', 'configmap', `${round}-after-00`);
      await waitFor(`the deletion of round ${round}`, 60_000, async () => of('delete').includes(`${round}-after-00`));
      const wanted = [...names(`${round}-before`), ...names(`${round}-after`)];
      expect(
        of('add')
          .filter((name) => name.startsWith(round))
          .sort(),
      ).toEqual(wanted.sort());
    }
    expect(of('delete').sort()).toEqual(['live-19', 'one-after-00', 'three-after-00', 'two-after-00']);
  });

  test('holds in its cache what the server holds', async () => {
    informer.stdin?.write('\n');
    const listed = await waitFor('its list', 10_000, async () => seen.find((line) => line.event === 'list')?.names);
    const { items } = await server.kubectl.get<{ items: { metadata: { name: string } }[] }>('configmaps');
    expect(listed).toEqual(items.map((item) => item.metadata.name).sort());
    expect(server.failures).toEqual([]);
  });
});
