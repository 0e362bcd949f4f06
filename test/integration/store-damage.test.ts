// Stores that are lost or damaged, before a start and under a running server: said, refused, and never replaced by an empty one.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clusters, virtualClusters } from '../../src/api/resources.ts';
import { STORE_DECISION_ANNOTATION } from '../../src/controllers/provisioned-cluster-scope.ts';
import { getCondition, waitFor } from '../../src/kube/index.ts';
import { DAMAGES, spoil } from '../harness/damage.ts';

import { KEY, TEXT, TenantScene } from '../harness/tenant-scene.ts';

let scene: TenantScene;
beforeEach(async () => {
  scene = new TenantScene();
  await scene.furnish();
});
afterEach(() => scene.close());

describe.each(DAMAGES)('a store that was $what', ({ reason: wanted, harm }) => {
  it('is refused with the reason after a start, and starts empty only when a person says so', async () => {
    await scene.stop();
    harm(scene.file('demo'), scene.file('other'));
    const before = existsSync(scene.file('demo')) ? readFileSync(scene.file('demo')) : undefined;
    const { store } = await scene.start();
    const found = await scene.reason(wanted);
    const condition = getCondition(found as NonNullable<typeof found>, 'Ready');
    expect(condition?.message).toMatch(
      /rookery backup restore <file> --cluster demo; .* rookery cluster start-empty demo --yes/,
    );
    expect(condition?.message).not.toContain(scene.home);
    await expect(scene.letter()).rejects.toMatchObject({
      code: 503,
      message: expect.stringContaining('the store of cluster demo is'),
    });
    await expect(scene.letter()).rejects.not.toMatchObject({ message: expect.stringContaining(scene.home) });
    const told = (object: Parameters<typeof getCondition>[0] | undefined) =>
      getCondition(object as NonNullable<typeof object>, 'InfrastructureReady')?.reason === wanted;
    await waitFor(store, clusters, KEY, told, { timeoutMs: 30_000, what: `the Cluster to say ${wanted}` });
    // Nothing was made in its place, and nothing changed in it.
    expect(existsSync(scene.file('demo')) ? readFileSync(scene.file('demo')) : undefined).toEqual(before);
    expect(await scene.plane.clusters.peek('other', () => 'well')).toBe('well');

    await scene.decide('start-empty');
    const ready = await scene.reason('TenantServing');
    expect(ready?.metadata.annotations?.[STORE_DECISION_ANNOTATION]).toBeUndefined();
    await expect(scene.letter()).rejects.toMatchObject({ code: 404 });
    if (before) {
      const kept = join(scene.home, 'data', 'replaced', 'demo');
      expect(readFileSync(join(kept, readdirSync(kept)[0] as string))).toEqual(before);
    }
  });
});

it('is refused when its log is lost after a crash, and works when the log is found again', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'rookery-crashed-'));
  try {
    // What a crash leaves: the files as they are now.
    const files = readdirSync(join(scene.home, 'data', 'clusters')).filter((file) => file.startsWith('demo.'));
    expect(files).toContain('demo.db-wal');
    const kept = files.map((file) => [file, readFileSync(join(scene.home, 'data', 'clusters', file))] as const);
    await scene.stop();
    for (const [file, content] of kept) writeFileSync(join(scene.home, 'data', 'clusters', file), content);
    renameSync(`${scene.file('demo')}-wal`, join(copy, 'wal'));
    await scene.start();
    const found = await scene.reason('StoreDamaged');
    expect(getCondition(found as NonNullable<typeof found>, 'Ready')?.message).toContain('demo.db-wal) is lost');
    await scene.stop();
    writeFileSync(`${scene.file('demo')}-wal`, readFileSync(join(copy, 'wal')));
    await scene.start();
    expect(await scene.letter()).toBe(TEXT);
  } finally {
    rmSync(copy, { recursive: true });
  }
});

it('is noticed when its file is deleted under a running server; what it held is saved', async () => {
  rmSync(scene.file('demo'));
  await scene.reason('StoreMissing');
  await expect(scene.letter()).rejects.toMatchObject({ code: 503 });
  expect(existsSync(scene.file('demo'))).toBe(false);
  renameSync(join(scene.home, 'data', 'rescued', 'demo.db'), scene.file('demo'));
  expect(await scene.letter()).toBe(TEXT);
});

it('is noticed when its file is exchanged under a running server', async () => {
  await scene.plane.clusters.sleep('other');
  const other = readFileSync(scene.file('other'));
  rmSync(scene.file('demo'));
  writeFileSync(scene.file('demo'), other);
  await scene.reason('StoreDamaged');
  await expect(scene.letter()).rejects.toMatchObject({ code: 503 });
});

it('is noticed when a stored object is damaged on the disk of a sleeping cluster, and stays so after a restart', async () => {
  await scene.plane.clusters.sleep('demo');
  spoil(scene.file('demo'), '"name":"letter"');
  await expect(scene.letter()).rejects.toMatchObject({ code: 503 });
  await scene.reason('StoreDamaged');
  await scene.stop();
  await scene.start();
  await expect(scene.letter()).rejects.toMatchObject({ code: 503, message: expect.stringContaining('is damaged') });
  await scene.reason('StoreDamaged');
});

it('is not given up by a decision that nothing calls for', async () => {
  await scene.decide('start-empty');
  const ready = (object: { metadata: { annotations?: Record<string, string> } } | undefined) =>
    object?.metadata.annotations?.[STORE_DECISION_ANNOTATION] === undefined;
  await waitFor(scene.plane.store, virtualClusters, KEY, ready, { timeoutMs: 30_000 });
  expect(await scene.letter()).toBe(TEXT);
});

it('can be deleted with its cluster, whatever is left of it', async () => {
  await scene.stop();
  writeFileSync(scene.file('demo'), 'rubbish');
  const { store } = await scene.start();
  await scene.reason('StoreDamaged');
  await store.delete(clusters, KEY);
  await waitFor(store, virtualClusters, KEY, (object) => object === undefined, { timeoutMs: 30_000 });
  expect(readdirSync(join(scene.home, 'data', 'clusters')).filter((file) => file.startsWith('demo'))).toEqual([]);
});

describe('a control plane', () => {
  const root = () => join(scene.home, 'data', 'root.db');

  it.each([
    ['is gone', () => rmSync(root()), 'store.missing'],
    ['is empty', () => writeFileSync(root(), ''), 'store.damaged'],
    ['is cut short', () => writeFileSync(root(), readFileSync(root()).subarray(0, 5000)), 'store.damaged'],
    ['is of another cluster', () => writeFileSync(root(), readFileSync(scene.file('demo'))), 'store.damaged'],
  ])('does not start when its store %s, and changes nothing', async (_, harm, code) => {
    await scene.stop();
    harm();
    const before = existsSync(root()) ? readFileSync(root()) : undefined;
    await expect(scene.start()).rejects.toMatchObject({
      code,
      hint: expect.stringContaining('rookery backup restore <file> --replace'),
    });
    expect(existsSync(root()) ? readFileSync(root()) : undefined).toEqual(before);
  });

  it.each([
    ['keys.json', /master keys/],
    ['pki/ca.pem', /kubeconfig would have to be fetched again/],
  ])('does not start without %s, and does not make a new one', async (name, meaning) => {
    await scene.stop();
    rmSync(join(scene.home, name));
    await expect(scene.start()).rejects.toMatchObject({
      code: 'home.key-lost',
      message: expect.stringMatching(meaning),
    });
    expect(existsSync(join(scene.home, name))).toBe(false);
  });

  it('goes on when its store is deleted under it, and saves what it held', async () => {
    rmSync(root());
    const saved = join(scene.home, 'data', 'rescued', 'root.db');
    for (const end = Date.now() + 30_000; !existsSync(saved) && Date.now() < end; ) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(statSync(saved).size).toBeGreaterThan(0);
    await scene.plane.store.get(virtualClusters, KEY);
    await scene.stop();
    await expect(scene.start()).rejects.toMatchObject({
      code: 'store.missing',
      message: expect.stringContaining('rescued/root.db'),
    });
    renameSync(saved, root());
    await scene.start();
    await scene.reason('TenantServing');
  });
});
