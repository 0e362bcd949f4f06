// Backups that bring back what was lost, whatever way it was lost.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { configMaps } from '../../src/api/resources.ts';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { BackupFolder } from '../../src/embedded/backup/backup-folder.ts';
import { pack, unpack } from '../../src/embedded/backup/pack.ts';
import { backupRequest } from '../../src/embedded/backup/requests.ts';
import { layReady } from '../../src/embedded/backup/restore-cluster.ts';
import { finishRestore, restoreHome } from '../../src/embedded/backup/restore-home.ts';
import { Home } from '../../src/embedded/home.ts';
import { waitFor } from '../../src/kube/index.ts';
import type { BackupSecret } from '../../src/vault/backup-key.ts';
import { DAMAGES } from '../harness/damage.ts';
import { TEXT, TenantScene } from '../harness/tenant-scene.ts';

const secret: BackupSecret = { kind: 'key-file', content: Buffer.from('0123456789abcdef0123456789abcdef') };
const clock = systemClock;
let scene: TenantScene;
let folder: BackupFolder;
let saved: string;

/** As `rookery backup create` does it. */
async function backup(): Promise<Awaited<ReturnType<typeof pack>>> {
  const request = backupRequest(systemRandom.uuid());
  const { store, home } = scene.plane;
  const key = { namespace: 'kube-system', name: request.metadata.name as string };
  await store.create(configMaps, request);
  const answer = await waitFor(store, configMaps, key, (object) => object?.data?.state !== undefined, {
    timeoutMs: 60_000,
  });
  expect(answer?.data).toEqual({ state: 'staged' });
  try {
    return await pack({ from: home.staged(key.name), folder, secret, clock, random: systemRandom });
  } finally {
    await store.delete(configMaps, key);
  }
}

/** Everything below a folder, to be put back: each test begins with the same home. */
function keep(home: string): () => void {
  const copy = mkdtempSync(join(tmpdir(), 'rookery-kept-'));
  const copyAll = (from: string, to: string) => {
    rmSync(to, { recursive: true, force: true });
    cpSync(from, to, { recursive: true, preserveTimestamps: true });
  };
  copyAll(home, copy);
  afterAll(() => rmSync(copy, { recursive: true, force: true }));
  return () => copyAll(copy, home);
}

let putBack: () => void;
beforeAll(async () => {
  scene = new TenantScene();
  await scene.furnish();
  folder = new BackupFolder(mkdtempSync(join(tmpdir(), 'rookery-backups-')));
  const made = await backup();
  expect(made).toMatchObject({ isComplete: true, manifest: { clusters: ['demo', 'other'], skipped: [] } });
  saved = made.file;
  await scene.stop();
  putBack = keep(scene.home);
});
beforeEach(() => putBack());
afterEach(() => scene.stop());
afterAll(async () => {
  await scene.close();
  rmSync(folder.path, { recursive: true, force: true });
});

const home = () => new Home(scene.home);

describe.each(DAMAGES)('a store that was $what', ({ reason, harm }) => {
  it('is restored from a backup, with its sealed values and its credentials', async () => {
    harm(scene.file('demo'), scene.file('other'));
    await scene.start();
    await scene.reason(reason);
    await layReady({ home: home(), file: saved, secret, tenant: 'demo', clock });
    await scene.decide('restore');
    await scene.reason('TenantServing');
    expect(await scene.letter()).toBe(TEXT);
    expect(await scene.sealed()).toBe('seal');
    expect(existsSync(home().restoredStore('demo'))).toBe(false);
  });
});

it('brings a cluster that is well back to what it was, and tells those who watch', async () => {
  await scene.start();
  const rv = await scene.inside(async (api) => {
    await api.delete(configMaps, { namespace: 'default', name: 'letter' });
    return (await api.list(configMaps, { namespace: 'default' })).metadata?.resourceVersion as string;
  });
  await layReady({ home: home(), file: saved, secret, tenant: 'demo', clock });
  await scene.decide('restore');
  expect(await scene.letter()).toBe(TEXT);
  await scene.inside(async (api) => {
    const now = (await api.list(configMaps, { namespace: 'default' })).metadata?.resourceVersion;
    expect(Number(now)).toBeGreaterThan(Number(rv));
  });
  expect(readdirSync(join(scene.home, 'data', 'replaced', 'demo')).filter((name) => name.endsWith('.db'))).toHaveLength(
    1,
  );
});

it('restores a cluster into a home whose master keys are others', async () => {
  await scene.start();
  const { store } = scene.plane;
  expect(store).toBeDefined();
  await scene.stop();
  // Another home with a cluster of the same name: its keys have nothing in common with those of the backup.
  const other = new TenantScene();
  try {
    await other.furnish();
    await other.inside((api) => api.delete(configMaps, { namespace: 'default', name: 'letter' }));
    await layReady({ home: new Home(other.home), file: saved, secret, tenant: 'demo', clock });
    await other.decide('restore');
    expect(await other.letter()).toBe(TEXT);
    expect(await other.sealed()).toBe('seal');
  } finally {
    await other.close();
  }
});

describe('a whole home', () => {
  const LOSSES: [string, () => void][] = [
    ['its root store', () => rmSync(join(scene.home, 'data', 'root.db'))],
    [
      'half of its root store',
      () =>
        writeFileSync(
          join(scene.home, 'data', 'root.db'),
          readFileSync(join(scene.home, 'data', 'root.db')).subarray(0, 9000),
        ),
    ],
    ['its keyring', () => rmSync(join(scene.home, 'keys.json'))],
    ['its CA', () => rmSync(join(scene.home, 'pki', 'ca.pem'))],
    ['all of its data', () => rmSync(join(scene.home, 'data'), { recursive: true })],
  ];

  it.each(LOSSES)(
    'is restored when it has lost %s, and only when it is said that what is there may be replaced',
    async (_, lose) => {
      lose();
      await expect(scene.start()).rejects.toMatchObject({ code: expect.stringMatching(/^(store|home)\./) });
      const options = { home: home(), file: saved, secret, clock };
      await expect(restoreHome({ ...options, replace: false })).rejects.toMatchObject({
        code: 'backup.home-not-empty',
      });
      const { aside } = await restoreHome({ ...options, replace: true });
      expect(existsSync(aside as string)).toBe(true);
      await scene.start();
      await scene.reason('TenantServing');
      expect([await scene.letter(), await scene.sealed()]).toEqual([TEXT, 'seal']);
    },
  );

  it('is restored into an empty folder on another machine, and kubeconfigs of before go on working', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'rookery-new-home-'));
    try {
      const { aside } = await restoreHome({ home: new Home(empty), file: saved, secret, clock, replace: false });
      expect(aside).toBeUndefined();
      expect(readdirSync(empty).sort()).toEqual(['data', 'keys.json', 'pki', 'provisioners']);
      await scene.start(empty);
      await scene.reason('TenantServing');
      expect([await scene.letter(), await scene.sealed()]).toEqual([TEXT, 'seal']);
    } finally {
      await scene.stop();
      rmSync(empty, { recursive: true, force: true });
    }
  });

  it('does not start after a restore that was broken off while it was unpacked, and is whole after another one', async () => {
    writeFileSync(
      home().restoreNote,
      JSON.stringify({ phase: 'unpacking', file: saved, aside: 'replaced-x', there: [] }),
    );
    await expect(scene.start()).rejects.toMatchObject({ code: 'home.restore-unfinished' });
    await restoreHome({ home: home(), file: saved, secret, clock, replace: true });
    await scene.start();
    expect(await scene.letter()).toBe(TEXT);
  });

  it('is never half of one and half of the other, wherever the exchange is broken off', async () => {
    const parts = ['keys.json', 'pki', 'provisioners', 'data'];
    for (let moved = 0; moved <= parts.length * 2; moved++) {
      putBack();
      await unpack({ file: saved, secret, to: home().restoring });
      const note = { phase: 'exchanging', file: saved, aside: 'replaced-x', there: parts };
      writeFileSync(home().restoreNote, JSON.stringify(note));
      // The first so many steps of the exchange happened.
      await exchange(parts, moved);
      await finishRestore(home());
      for (const part of parts)
        expect(existsSync(join(scene.home, 'replaced-x', part)), `${part} after ${moved}`).toBe(true);
      for (const part of parts) expect(existsSync(join(scene.home, part)), `${part} after ${moved}`).toBe(true);
      expect(existsSync(home().restoreNote)).toBe(false);
      expect(existsSync(join(scene.home, 'data', 'manifest.json'))).toBe(false);
    }
    await scene.start();
    expect(await scene.letter()).toBe(TEXT);
  });
});

async function exchange(parts: string[], steps: number): Promise<void> {
  const { renameSync, mkdirSync } = await import('node:fs');
  mkdirSync(join(scene.home, 'replaced-x'), { recursive: true });
  for (const [i, part] of parts.entries()) {
    if (steps > 2 * i) renameSync(join(scene.home, part), join(scene.home, 'replaced-x', part));
    if (steps > 2 * i + 1) renameSync(join(home().restoring, part), join(scene.home, part));
  }
}

it('leaves out a store that is damaged, says so, and keeps the backups that still have it', async () => {
  writeFileSync(scene.file('demo'), 'rubbish');
  await scene.start();
  await scene.reason('StoreDamaged');
  const made = await backup();
  try {
    expect(made).toMatchObject({
      isComplete: false,
      manifest: { clusters: ['other'], skipped: [{ cluster: 'demo' }] },
    });
    expect(await folder.prune(1)).toEqual([]);
    await expect(layReady({ home: home(), file: made.file, secret, tenant: 'demo', clock })).rejects.toMatchObject({
      code: 'backup.no-such-cluster',
    });
  } finally {
    rmSync(made.file);
  }
});

it('changes nothing when the backup is damaged or the key is another', async () => {
  const spoiled = `${saved}.spoiled`;
  copyFileSync(saved, spoiled);
  const content = readFileSync(spoiled);
  content[content.length - 40] = (content[content.length - 40] as number) ^ 1;
  writeFileSync(spoiled, content);
  try {
    const options = { home: home(), clock, replace: true };
    const other: BackupSecret = { kind: 'key-file', content: Buffer.from('another key, another key, another key') };
    await expect(restoreHome({ ...options, file: spoiled, secret })).rejects.toMatchObject({ code: 'backup.damaged' });
    await expect(restoreHome({ ...options, file: saved, secret: other })).rejects.toMatchObject({ code: 'backup.key' });
    const phrase: BackupSecret = { kind: 'passphrase', text: 'whatever it is' };
    await expect(restoreHome({ ...options, file: saved, secret: phrase })).rejects.toMatchObject({
      code: 'backup.key',
    });
    await scene.start();
    expect(await scene.letter()).toBe(TEXT);
  } finally {
    rmSync(spoiled);
  }
});

it('holds nothing readable: no names, no keys', () => {
  const content = readFileSync(saved).toString('latin1');
  for (const text of ['demo', 'letter', 'master', 'PRIVATE KEY', 'CERTIFICATE', 'SQLite'])
    expect(content).not.toContain(text);
});
