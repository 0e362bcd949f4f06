// How much a tenant may store: the built program, and kubectl as the tenant's own administrator.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Kubectl, kubectl } from '../harness/kubectl.ts';
import { Rookery } from '../harness/rookery.ts';

const LIMIT = 4 * 2 ** 20;

const rookery = new Rookery({
  ROOKERY_WEB_PORT: '0',
  ROOKERY_STORAGE_BYTES: '4Mi',
  ROOKERY_STORAGE_OBJECTS: '500',
  ROOKERY_STORAGE_MAX_OBJECTS: '600',
});
const folder = mkdtempSync(join(tmpdir(), 'rookery-kubectl-'));
const large = join(folder, 'large');
let demo: Kubectl;
let root: Kubectl;

beforeAll(async () => {
  const started = await rookery.run('up', '--detach');
  expect(started.code, started.stderr).toBe(0);
  demo = kubectl(join(rookery.home, 'clusters', 'demo.kubeconfig'), join(folder, 'demo'));
  root = kubectl(join(rookery.home, 'kubeconfig'), join(folder, 'root'));
  writeFileSync(large, 'x'.repeat(900_000));
});
afterAll(async () => {
  await rookery.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Status {
  storage: Record<'bytes' | 'objects', { used: number; limit: number }>;
  conditions: { type: string; status: string; reason: string; message: string }[];
}

async function statusOf(): Promise<Status> {
  return JSON.parse((await root('get virtualcluster demo -o json')).out).status;
}

async function eventually(holds: (status: Status) => boolean): Promise<Status> {
  for (let tries = 60; tries > 0; tries--) {
    const status = await statusOf();
    if (holds(status)) return status;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`waited in vain: ${JSON.stringify(await statusOf())}`);
}

it('refuses what is too much with the words of a quota, and nothing else', async () => {
  const created: string[] = [];
  let refused = '';
  for (let i = 0; i < 8 && !refused; i++) {
    const { code, err } = await demo(`create configmap large-${i} --from-file=${large}`);
    if (code === 0) created.push(`large-${i}`);
    else refused = err;
  }
  expect(created).toHaveLength(4);
  expect(refused).toMatch(
    /configmaps "large-4" is forbidden: exceeded quota: cluster-storage, requested: bytes=90\d{4}, used: bytes=\d+, limited: bytes=4194304/,
  );
  // What is small still fits; what is there can be read, changed, and deleted.
  expect((await demo('create configmap small --from-literal=k=v')).code).toBe(0);
  expect((await demo('get configmaps -o name')).out).toContain('configmap/large-0\n');
  expect((await demo('label configmap large-0 a=b')).code).toBe(0);

  const status = await eventually(({ storage }) => storage.bytes.used > 3_600_000);
  expect(status.storage.bytes.limit).toBe(LIMIT);
  expect(status.storage.bytes.used).toBeLessThanOrEqual(LIMIT);
  expect(status.storage.objects).toMatchObject({ limit: 500 });

  // Rewriting is not storing: history is not counted, and it does not pile up either.
  for (let i = 0; i < 10; i++) expect((await demo(`annotate --overwrite configmap large-1 n=${i}`)).code).toBe(0);
  expect((await demo('delete configmap large-0')).code).toBe(0);
  expect((await demo(`create configmap again --from-file=${large}`)).code).toBe(0);
});

it('gives a cluster what its spec asks for, and no more than the operator allows', async () => {
  expect((await root(`patch virtualcluster demo --type=merge -p {"spec":{"storage":{"objects":550}}}`)).code).toBe(0);
  expect((await eventually(({ storage }) => storage.objects.limit === 550)).storage.bytes.limit).toBe(LIMIT);

  const greedy = '{"spec":{"storage":{"objects":1000000,"bytes":1000000000000}}}';
  expect((await root(`patch virtualcluster demo --type=merge -p ${greedy}`)).code).toBe(0);
  const status = await eventually(({ storage }) => storage.objects.limit === 600);
  expect(status.storage.bytes.limit).toBe(LIMIT);
  expect(status.conditions.find(({ type }) => type === 'Stalled')).toMatchObject({ reason: 'StorageAboveMaximum' });
  expect(status.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });

  const little = '{"spec":{"storage":{"objects":10,"bytes":1000}}}';
  expect((await root(`patch virtualcluster demo --type=merge -p ${little}`)).code).toBe(0);
  const lower = await eventually(({ storage }) => storage.objects.limit === 10);
  expect(lower.conditions.some(({ type }) => type === 'Stalled')).toBe(false);
  expect((await demo('create configmap one-more')).err).toContain(
    'exceeded quota: cluster-storage, requested: objects=1',
  );
  expect((await demo('delete configmap again')).code).toBe(0);
});
