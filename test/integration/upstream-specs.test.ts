// What Kubernetes' own end-to-end specs look at and our other tests did not: each case here failed before.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { furnish } from '../../src/provisioners/virtual/simulation/furnish.ts';
import { simulation } from '../../src/provisioners/virtual/simulation/index.ts';
import type { Http } from '../harness/http.ts';
import { kubectl } from '../harness/kubectl.ts';
import { startServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let http: Http;

beforeAll(async () => {
  server = await startServer({ loops: [simulation] });
  await furnish(await server.clusters.ensure('judged'), { controlPlanes: 0, nodes: 2 });
  http = await server.http('judged');
});
afterAll(async () => {
  const { errors } = server;
  await server.close();
  expect(errors).toEqual([]);
});

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('server-side apply', () => {
  it('refuses a field that nobody could own, and names repeated keys by their line', async () => {
    const apply = (text: string) =>
      http.patch(`${MAPS}/applied?fieldManager=me&fieldValidation=Strict`, 'apply', Buffer.from(text));
    const map = '\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n';
    const unknown = await apply(`${map}  label: {}\n`);
    expect(unknown.json).toMatchObject({ code: 500 });
    expect(unknown.json.message).toContain('.metadata.label: field not declared in schema');
    const twice = await apply(`${map}data:\n  a: "1"\n  a: "2"\n`);
    expect(twice.json).toMatchObject({
      code: 400,
      message:
        'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 8: key "a" already set in map',
    });
    expect((await apply(`${map}data:\n  a: "1"\n`)).status).toBe(201);
  });
});

describe('protection', () => {
  it('lets a class of volume attributes go that nobody uses, and keeps one that somebody does', async () => {
    const classes = '/apis/storage.k8s.io/v1/volumeattributesclasses';
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    for (const name of ['free', 'used'])
      await http.post(classes, { metadata: { name }, driverName: 'csi.example.com' });
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const claim = {
      metadata: { name: 'user' },
      spec: { ...spec, storageClassName: 'none', volumeAttributesClassName: 'used' },
    };
    expect((await http.post(claims, claim)).status).toBe(201);
    for (const name of ['free', 'used']) expect((await http.delete(`${classes}/${name}`)).status).toBe(200);
    await until('the free one is gone', async () => (await http.get(`${classes}/free`)).status === 404);
    expect((await http.get(`${classes}/used`)).json.metadata.deletionTimestamp).toBeDefined();
    await http.delete(`${claims}/user`);
    await until('the other one is gone', async () => (await http.get(`${classes}/used`)).status === 404);
  });
});

describe('pods', () => {
  it('ask for kernel settings by names that can be', async () => {
    const names = ['foo-', 'kernel.shmmax', 'safe-and-unsafe', 'bar..'];
    const spec = {
      containers: [{ name: 'a', image: 'b' }],
      securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) },
    };
    const { status, json } = await http.post('/api/v1/namespaces/default/pods', { metadata: { name: 'tuned' }, spec });
    expect(status).toBe(422);
    expect(json.details.causes.map(({ field }: { field: string }) => field)).toEqual([
      'spec.securityContext.sysctls[0].name',
      'spec.securityContext.sysctls[3].name',
    ]);
  });
});

describe('a custom resource', () => {
  it('is read with the defaults its definition has now, not those it had when it was stored', async () => {
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const [group, plural] = ['late.example.com', 'things'];
    const text = { type: 'string' };
    const schema = { openAPIV3Schema: { type: 'object', properties: { a: text, b: text } } };
    await http.post(crds, {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural, kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const things = `/apis/${group}/v1/${plural}`;
    await until('it is served', async () => (await http.get(things)).status === 200);
    const make = (name: string) =>
      http.post(things, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, b: 'kept' });
    await make('early');
    const at = '/spec/versions/0/schema/openAPIV3Schema/properties';
    await http.patch(`${crds}/${plural}.${group}`, 'json', [{ op: 'add', path: `${at}/a/default`, value: 'A' }]);
    await until('it is defaulted', async () => (await http.get(`${things}/early`)).json.a === 'A');
    expect((await http.get(things)).json.items).toMatchObject([{ a: 'A', b: 'kept' }]);
    expect((await make('late')).json.a).toBe('A');
    await http.patch(`${crds}/${plural}.${group}`, 'json', [
      { op: 'remove', path: `${at}/a/default` },
      { op: 'remove', path: `${at}/b` },
    ]);
    await until('what the definition no longer knows is left out', async () => {
      const { json } = await http.get(`${things}/late`);
      return json.b === undefined && json.a === 'A';
    });
    expect((await http.get(`${things}/early`)).json.a).toBeUndefined();
  });
});

describe('a list in pages', () => {
  it('says on every page but the last how much follows, also after its version was forgotten', async () => {
    const templates = '/api/v1/namespaces/default/podtemplates';
    const template = { spec: { containers: [{ name: 'a', image: 'b' }] } };
    for (let i = 0; i < 10; i++) await http.post(templates, { metadata: { name: `template-${i}` }, template });
    const page = async (token: string) =>
      (await http.get(`${templates}?limit=3&continue=${encodeURIComponent(token)}`)).json;
    const first = await page('');
    const second = await page(first.metadata.continue);
    const third = await page(second.metadata.continue);
    const last = await page(third.metadata.continue);
    const left = [first, second, third, last].map(({ metadata }) => metadata.remainingItemCount);
    expect(left).toEqual([7, 4, 1, undefined]);

    const { store } = await server.clusters.ensure('judged');
    await http.post(MAPS, { metadata: { name: 'later' } });
    await store.compact(store.rv);
    const expired = await page(first.metadata.continue);
    expect(expired).toMatchObject({ code: 410, reason: 'Expired' });
    const onward = await page(expired.metadata.continue);
    expect(onward.metadata.remainingItemCount).toBe(4);
    expect(onward.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
  });
});

describe('a tenant', () => {
  it('answers kubectl where it leaves out the path of the address', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rookery-upstream-'));
    try {
      const run = kubectl(await server.kubeconfig('judged'), folder);
      const nodes = await run('get --raw /api/v1/nodes');
      expect(JSON.parse(nodes.out).items).toHaveLength(2);
      // With --server kubectl forgets the server name of the kubeconfig; what is left is the token.
      const bare = await run(`get --raw /api/v1/nodes --server=${server.url}`);
      expect(JSON.parse(bare.out).items).toHaveLength(2);
      expect((await http.get('/api/v1/nodes', { token: 'wrong' })).status).toBe(401);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('a pod on a simulated node', () => {
  const pods = '/api/v1/namespaces/default/pods';
  const phase = async (name: string) => (await http.get(`${pods}/${name}`)).json.status?.phase;

  it('has the generation of its spec: neither placing it nor its end by grace is missed or counted twice', async () => {
    const spec = { containers: [{ name: 'a', image: 'b' }] };
    await http.post(pods, { metadata: { name: 'counted', generation: 100 }, spec });
    await until('it runs', async () => (await phase('counted')) === 'Running');
    expect((await http.get(`${pods}/counted`)).json.metadata.generation).toBe(1);
    const { json } = await http.delete(`${pods}/counted?gracePeriodSeconds=60`);
    expect(json.metadata).toMatchObject({ generation: 2, deletionGracePeriodSeconds: 60 });
    await until('it is gone', async () => (await http.get(`${pods}/counted`)).status === 404);
  });

  it('goes with its Job, though that cannot count it any more', async () => {
    const jobs = '/apis/batch/v1/namespaces/default/jobs';
    const spec = { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b', command: ['sleep', '1000'] }] };
    await http.post(jobs, { metadata: { name: 'short' }, spec: { template: { spec } } });
    const mine = async () => (await http.get(`${pods}?labelSelector=job-name%3Dshort`)).json.items;
    await until('it runs', async () => (await mine())[0]?.status?.phase === 'Running');
    await http.delete(`${jobs}/short?propagationPolicy=Background`);
    await until('it is gone', async () => (await mine()).length === 0);
  });

  it('fails where it was put without asking and its port is taken', async () => {
    const [node] = (await http.get('/api/v1/nodes')).json.items;
    const ports = [{ containerPort: 80, hostPort: 21017 }];
    const spec = { nodeName: node.metadata.name, containers: [{ name: 'a', image: 'b', ports }] };
    await http.post(pods, { metadata: { name: 'first' }, spec });
    await until('the first runs', async () => (await phase('first')) === 'Running');
    await http.post(pods, { metadata: { name: 'second' }, spec });
    await until('the second fails', async () => (await phase('second')) === 'Failed');
    expect((await http.get(`${pods}/second`)).json.status).toMatchObject({
      reason: 'NodePorts',
      message:
        "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    });
    expect(await phase('first')).toBe('Running');
    const greedy = { ...spec, containers: [{ name: 'a', image: 'b', resources: { requests: { cpu: '100' } } }] };
    await http.post(pods, { metadata: { name: 'greedy' }, spec: greedy });
    await until('the greedy one fails', async () => (await phase('greedy')) === 'Failed');
    expect((await http.get(`${pods}/greedy`)).json.status.reason).toBe('OutOfcpu');
  });
});

describe('a revision of a DaemonSet', () => {
  it('is found by its text: compact, its keys sorted', async () => {
    const apps = '/apis/apps/v1/namespaces/default';
    const labels = { app: 'agent' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'z', image: 'a' }] } };
    await http.post(`${apps}/daemonsets`, {
      metadata: { name: 'agent' },
      spec: { selector: { matchLabels: labels }, template },
    });
    const revisions = async () => await http.get(`${apps}/controllerrevisions?labelSelector=app%3Dagent`);
    await until('there is one', async () => (await revisions()).json.items.length === 1);
    const { text } = await revisions();
    expect(text).toContain(
      '"data":{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"agent"}},"spec":{',
    );
    expect(text).toContain('"containers":[{"image":"a","imagePullPolicy":"Always","name":"z","resources":{},');
  });
});

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  await vi.waitFor(async () => expect(await holds(), what).toBe(true), { timeout: 10_000, interval: 50 });
}
