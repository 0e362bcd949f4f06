/** Workspaces on the embedded control plane: objects as people write them, shells that run, pages that only their owner opens. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { KubeObject } from '../../src/api/object.ts';
import { clusters, namespaces, workspaceInstances, workspaceTemplates } from '../../src/api/resources.ts';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { loadConfig } from '../../src/config.ts';
import { FORCE_ANNOTATION } from '../../src/controllers/workspace/navigation.ts';
import { ensureNamespace } from '../../src/controllers/workspace/own-namespace.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { serveWorkspaces } from '../../src/http/index.ts';
import { WorkspaceLinks } from '../../src/http/workspace-links.ts';
import { getCondition, isNotFound, waitFor, waitForGone } from '../../src/kube/index.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { compile } from '../../src/workshop/compile.ts';
import { loadWorkshop, type Workshop } from '../../src/workshop/load.ts';
import { templateOf } from '../../src/workshop/template.ts';

const EXAMPLE = new URL('../../examples/kubernetes-101', import.meta.url).pathname;
const home = mkdtempSync(join(tmpdir(), 'rookery-workspaces-'));
let plane: ControlPlane;
let base: URL;

beforeAll(async () => {
  plane = await ControlPlane.start({
    config: loadConfig({}, { home, port: 0 }),
    terminals: (parts) =>
      serveWorkspaces({ ...parts, address: '127.0.0.1', port: 0, trustedProxies: ['127.0.0.1'], log: silentLogger }),
  });
  const { workshop } = await loadWorkshop(EXAMPLE);
  const template = templateOf(compile(workshop as Workshop, systemClock));
  template.spec.defaults.cluster.provisioner = 'virtual';
  await plane.store.create(workspaceTemplates, template);
});
afterAll(async () => {
  await plane.close();
  rmSync(home, { recursive: true });
});

const key = (name: string) => ({ namespace: `ws-${name}`, name });
const make = async (name: string, spec: object = {}): Promise<KubeObject> => {
  const { namespace } = key(name);
  await plane.store
    .create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    .catch(() => {});
  return plane.store.create(workspaceInstances, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceInstance',
    metadata: { name, namespace },
    spec: { templateRef: { name: 'kubernetes-101' }, owner: name, ...spec },
  });
};
const until = async (name: string, wanted: (instance: KubeObject) => boolean): Promise<KubeObject> =>
  (await waitFor(plane.store, workspaceInstances, key(name), (seen) => seen !== undefined && wanted(seen), {
    timeoutMs: 20_000,
  })) as KubeObject;
const running = (name: string) => until(name, ({ status }) => status?.phase === 'Running');
const change = (name: string, spec: object) =>
  plane.store.patch(workspaceInstances, key(name), { type: 'merge', body: { spec } });

const cookieOf = async (name: string, role: 'student' | 'viewer' = 'student'): Promise<string> => {
  const links = await WorkspaceLinks.open(plane.home.linkKey, systemClock, systemRandom);
  return `pass=${links.sign({ ...(await identity(name)), role }, 60_000)}`;
};
const identity = async (name: string) => {
  const { metadata } = await plane.store.get(workspaceInstances, key(name));
  return { ...key(name), uid: metadata.uid as string };
};
const pathOf = (name: string, rest = '') => `/w/${key(name).namespace}/${name}/${rest}`;
interface Answer {
  status: number;
  text: string;
  headers: Record<string, unknown>;
}
const ask = (path: string, options: { method?: string; headers?: Record<string, string>; body?: unknown } = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const { method = 'GET', headers, body } = options;
    const call = request(new URL(path, base), { method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    call.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });

interface Seen {
  socket: WebSocket;
  text(): string;
  closed(): number | undefined;
}
const terminal = (name: string, headers: Record<string, string>): Seen => {
  const socket = new WebSocket(new URL(pathOf(name, 'terminal'), base.href.replace('http', 'ws')), { headers });
  let text = '';
  let code: number | undefined;
  socket.on('message', (data) => {
    text += data.toString();
  });
  socket.on('close', (reason) => {
    code = reason;
  });
  socket.on('error', () => {
    code ??= 1006;
  });
  return { socket, text: () => text, closed: () => code };
};

it('a workspace has a shell, a cluster of its own and a step', async () => {
  await make('ada');
  const instance = await running('ada');
  base = new URL(instance.status?.accessEndpoints.webTerminal);
  expect(instance.status).toMatchObject({
    currentStep: '1-look-around',
    workload: 'process',
    clusterRef: { name: 'ada' },
    stepHistory: [{ step: '1-look-around' }],
  });
  expect(instance.status?.expiresAt).toBeDefined();
  expect((await plane.store.get(clusters, key('ada'))).metadata.ownerReferences?.[0]?.uid).toBe(instance.metadata.uid);
});

describe('the page', () => {
  it('opens by a signed link and by nothing else', async () => {
    const links = await WorkspaceLinks.open(plane.home.linkKey, systemClock, systemRandom);
    const opened = await ask(`/open?link=${links.sign({ ...(await identity('ada')), role: 'student' }, 60_000)}`);
    expect(opened.status).toBe(200);
    expect(String(opened.headers['set-cookie'])).toMatch(/HttpOnly; SameSite=Strict$/);
    const link = `/open?link=${links.sign({ ...(await identity('ada')), role: 'student' }, 60_000)}`;
    const behindTls = await ask(link, { headers: { 'x-forwarded-proto': 'https' } });
    expect(String(behindTls.headers['set-cookie'])).toMatch(/HttpOnly; SameSite=Strict; Secure$/);
    const cookie = await cookieOf('ada');
    expect((await ask(pathOf('ada', 'state'), { headers: { cookie } })).status).toBe(200);
    await make('eve');
    await running('eve');
    const late = links.sign({ ...(await identity('ada')), role: 'student' }, -1);
    const forged = `${cookie.slice(0, -3)}abc`;
    for (const wrong of ['', await cookieOf('eve'), `pass=${late}`, forged, 'pass=x.y', 'pass=...']) {
      const { status } = await ask(pathOf('ada', 'state'), { headers: { cookie: wrong } });
      expect(status, wrong).toBe(403);
    }
    expect((await ask(`/open?link=${late}`)).status).toBe(403);
    expect((await ask('/w/%2e%2e/%2e%2e/etc/passwd')).status).toBe(404);
    expect((await ask('/assets/../../main.js')).status).toBe(404);
  });

  it('refuses pages of other sites, and those who may only look', async () => {
    const cookie = await cookieOf('ada');
    const foreign = { cookie, origin: 'http://evil.example' };
    expect((await ask(pathOf('ada', 'check'), { method: 'POST', headers: foreign })).status).toBe(403);
    const socket = terminal('ada', foreign);
    await expect.poll(socket.closed).toBe(1006);
    const viewer = { cookie: await cookieOf('ada', 'viewer') };
    expect((await ask(pathOf('ada', 'state'), { headers: viewer })).status).toBe(200);
    const go = { method: 'POST', headers: viewer, body: { step: '2-deploy' } };
    expect((await ask(pathOf('ada', 'step'), go)).status).toBe(403);
  });

  it('answers what no browser sends, and goes on', async () => {
    const headers = { cookie: await cookieOf('ada') };
    const post = (body: unknown) => ask(pathOf('ada', 'step'), { method: 'POST', headers, body });
    expect((await post(null)).status).toBe(400);
    expect(await post({ step: 'x'.repeat(100_000) })).toMatchObject({ status: 413 });
    const raw = (text: string) =>
      new Promise<string>((resolve) => {
        let answer = '';
        const socket = connect(Number(base.port), base.hostname, () => socket.write(text));
        socket.on('data', (data) => {
          answer += data;
        });
        socket.on('close', () => resolve(answer)).on('error', () => {});
      });
    expect(await raw('GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toContain('400 Bad Request');
    // Whoever asks for a socket without a pass and is gone before the answer must not take the process along.
    for (let count = 0; count < 20; count++) {
      const socket = connect(Number(base.port), base.hostname, () => {
        socket.write('GET /w/a/b/terminal HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
        setImmediate(() => socket.resetAndDestroy());
      });
      await new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));
    }
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('gives one shell to browsers that come at the same moment', async () => {
    const headers = { cookie: await cookieOf('eve') };
    const [left, right] = [terminal('eve', headers), terminal('eve', headers)];
    for (const each of [left, right]) await expect.poll(each.text, { timeout: 10_000 }).toContain('$');
    left.socket.send('echo sa"me"\r');
    for (const each of [left, right]) await expect.poll(each.text, { timeout: 10_000 }).toContain('same');
    for (const each of [left, right]) each.socket.close();
  });

  it('is not woken by a page that was left open, but by somebody who comes', async () => {
    const ago = new Date(Date.now() - 3_600_000).toISOString();
    const body = { status: { startedAt: ago, lastActivityAt: ago } };
    // As if the control plane had been there long before; some kubectl ask for the version when a shell starts.
    plane.clusters.lastCalls.note('ws-eve.eve', 'kubernetes-admin', Date.parse(ago));
    await plane.store.patch(workspaceInstances, key('eve'), { type: 'merge', body }, { subresource: 'status' });
    const idle = await until('eve', ({ status }) => status?.phase === 'Suspended');
    expect(getCondition(idle, 'Ready')?.reason).toBe('Idle');
    const headers = { cookie: await cookieOf('eve') };
    await ask(pathOf('eve', 'state'), { headers });
    const after = await plane.store.get(workspaceInstances, key('eve'));
    expect(after.status?.lastActivityAt).toBe(idle.status?.lastActivityAt);
    await ask(pathOf('eve'), { headers });
    await running('eve');
  });

  it('keeps the shell when the browser goes away, and lets others watch', async () => {
    const cookie = await cookieOf('ada');
    const first = terminal('ada', { cookie });
    await expect.poll(first.text, { timeout: 10_000 }).toContain('$');
    first.socket.send('MARK=tre; echo "$MARK"asure; sleep 1; echo aft"er"\r');
    await expect.poll(first.text, { timeout: 10_000 }).toContain('treasure');
    first.socket.close();
    const viewer = terminal('ada', { cookie: await cookieOf('ada', 'viewer') });
    await expect.poll(viewer.text, { timeout: 10_000 }).toMatch(/treasure[\s\S]*after/);
    viewer.socket.send('echo never"more"\r');
    const second = terminal('ada', { cookie });
    await expect.poll(second.text, { timeout: 10_000 }).toContain('treasure');
    second.socket.send('echo "$MARK"e\r');
    await expect.poll(second.text, { timeout: 10_000 }).toContain('tree');
    expect(viewer.text()).toContain('tree');
    expect(viewer.text()).not.toContain('nevermore');
    second.socket.send('exit\r');
    await expect.poll(second.closed, { timeout: 10_000 }).toBe(4000);
    viewer.socket.close();
  });

  it('runs the checks in the workspace, against its own cluster', async () => {
    const headers = { cookie: await cookieOf('ada') };
    const check = async () =>
      JSON.parse((await ask(pathOf('ada', 'check'), { method: 'POST', headers })).text).checks as { passed: boolean }[];
    expect((await check()).map(({ passed }) => passed)).toEqual([false, false]);
    const shell = terminal('ada', headers);
    await expect.poll(shell.text, { timeout: 10_000 }).toContain('$');
    shell.socket.send(
      'kubectl create namespace playground; kubectl get nodes -o name | wc -l > ~/nodes.txt; echo do"ne"\r',
    );
    await expect.poll(shell.text, { timeout: 20_000 }).toContain('done');
    expect((await check()).map(({ passed }) => passed)).toEqual([true, true]);
    const { status } = await plane.store.get(workspaceInstances, key('ada'));
    expect(status?.stepHistory[0]).toMatchObject({ step: '1-look-around', result: 'Passed' });
    shell.socket.close();
  });
});

it('a step is not entered before those it requires are done: neither by its page nor by spec', async () => {
  const headers = { cookie: await cookieOf('ada') };
  const rule = 'it requires what is not done yet: 2-deploy';
  const { steps } = JSON.parse((await ask(pathOf('ada', 'state'), { headers })).text);
  expect(steps).toMatchObject([{ isPassed: true }, { isPassed: false }, { isPassed: false, locked: rule }]);
  const go = { method: 'POST', headers, body: { step: '3-repair' } };
  expect(await ask(pathOf('ada', 'step'), go)).toMatchObject({ status: 403, text: expect.stringContaining(rule) });
  await expect(change('ada', { currentStep: '3-repair' })).rejects.toThrow(
    `spec.currentStep: Forbidden: step 3-repair: ${rule}`,
  );
});

it('a step is requested by spec, begins with its manifests and is remembered', async () => {
  const annotations = { [FORCE_ANNOTATION]: '3-repair' };
  const body = { metadata: { annotations }, spec: { currentStep: '3-repair' } };
  await plane.store.patch(workspaceInstances, key('ada'), { type: 'merge', body });
  const moved = await until('ada', ({ status }) => status?.currentStep === '3-repair');
  expect(moved.status?.stepHistory.map(({ step }: { step: string }) => step)).toEqual(['1-look-around', '3-repair']);
  expect(moved.status?.checks, 'they were about the step before').toBeUndefined();
  const cookie = await cookieOf('ada');
  const shell = terminal('ada', { cookie });
  await expect.poll(shell.text, { timeout: 10_000 }).toContain('$');
  shell.socket.send('kubectl -n shop get deployments\r');
  await expect.poll(shell.text, { timeout: 20_000 }).toMatch(/shop\s+0\/2/);
  shell.socket.close();
});

it('shows what an author changes at once, and moves nobody', async () => {
  const { spec } = await plane.store.get(workspaceTemplates, { name: 'kubernetes-101' });
  const [first, ...rest] = (spec?.steps ?? []) as { id: string; title: string; content: string }[];
  const steps = [{ ...first, id: '0-new', title: 'New' }, { ...first, content: 'Fresh words.' }, ...rest];
  await plane.store.patch(workspaceTemplates, { name: 'kubernetes-101' }, { type: 'merge', body: { spec: { steps } } });
  await change('eve', { overrides: { lifecycle: { ttl: '3h' } } });
  const { status } = await until('eve', (seen) => seen.status?.observedGeneration === seen.metadata.generation);
  expect(status?.currentStep).toBe('1-look-around');
  const headers = { cookie: await cookieOf('eve') };
  expect(JSON.parse((await ask(pathOf('eve', 'state'), { headers })).text)).toMatchObject({
    content: 'Fresh words.',
    currentStep: '1-look-around',
  });
});

it('suspends and comes back with what was written', async () => {
  const folder = join(plane.home.workspaces('process'), String((await running('ada')).metadata.uid), 'home');
  await change('ada', { suspend: true });
  await until('ada', ({ status }) => status?.phase === 'Suspended');
  const early = terminal('ada', { cookie: await cookieOf('ada') });
  await expect.poll(early.closed, { timeout: 5000 }).toBe(4001);
  await change('ada', { suspend: null });
  await running('ada');
  expect(readFileSync(join(folder, 'nodes.txt'), 'utf8').trim()).toBe('2');
});

describe('what is refused when it is written', () => {
  const refused = async (spec: object): Promise<string> => {
    const error = await make('mallory', spec).catch((caught: Error) => caught);
    return error instanceof Error ? error.message : 'accepted';
  };
  it.each([
    [
      { currentStep: 'nowhere' },
      /spec\.currentStep: Unsupported value: "nowhere": supported values: .*"1-look-around"/,
    ],
    [{ overrides: { cluster: { mode: 'none' } } }, /spec\.overrides\.cluster\.mode: Forbidden: the template/],
    [{ overrides: { lifecycle: { ttl: 'soon' } } }, /spec\.overrides\.lifecycle\.ttl/],
    [{ overrides: { lifecycle: { ttl: '0s' } } }, /must be a duration above zero/],
    [{ overrides: { isolation: { mode: 'team' } } }, /team isolation is reserved/],
    [{ owner: '' }, /spec\.owner/],
  ])('%j', async (spec, message) => {
    expect(await refused(spec)).toMatch(message);
  });
});

it('says which template is missing, and goes on when it comes', async () => {
  await make('grace', { templateRef: { name: 'later' } });
  const waiting = await until('grace', ({ status }) => status?.phase === 'Failed');
  expect(getCondition(waiting, 'TemplateResolved')?.message).toContain('there is no WorkspaceTemplate later');
  await plane.store.create(workspaceTemplates, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceTemplate',
    metadata: { name: 'later' },
    spec: { defaults: { lifecycle: { mode: 'ephemeral', ttl: '2s' } } },
  });
  await running('grace');
});

it('an ephemeral one ends by itself when its time is up', async () => {
  await waitForGone(plane.store, workspaceInstances, key('grace'), { timeoutMs: 20_000 });
});

it('one that is suspended ends when its time is up, too', async () => {
  await make('hopper', { templateRef: { name: 'later' }, overrides: { lifecycle: { ttl: '4s' } } });
  await running('hopper');
  await change('hopper', { suspend: true });
  await waitForGone(plane.store, workspaceInstances, key('hopper'), { timeoutMs: 20_000 });
});

it('a link does not open a workspace that was made anew under the same name', async () => {
  await make('grace', { templateRef: { name: 'later' }, overrides: { lifecycle: { ttl: '1h' } } });
  await running('grace');
  const headers = { cookie: await cookieOf('grace') };
  expect((await ask(pathOf('grace', 'state'), { headers })).status).toBe(200);
  await plane.store.delete(workspaceInstances, key('grace'));
  await waitForGone(plane.store, workspaceInstances, key('grace'), { timeoutMs: 20_000 });
  await make('grace', { templateRef: { name: 'later' }, overrides: { lifecycle: { ttl: '1h' } } });
  await running('grace');
  expect((await ask(pathOf('grace', 'state'), { headers })).status).toBe(404);
  await plane.store.delete(workspaceInstances, key('grace'));
});

it('neither takes nor deletes a cluster of the same name that is somebody else’s', async () => {
  const { namespace } = key('linus');
  await plane.store.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await plane.store.create(clusters, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: key('linus'),
    spec: { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'VirtualCluster', name: 'linus' } },
  });
  await make('linus');
  const waiting = await until('linus', (seen) => getCondition(seen, 'ClusterReady')?.reason === 'NameTaken');
  expect(waiting.status?.phase).toBe('Provisioning');
  await plane.store.delete(workspaceInstances, key('linus'));
  await waitForGone(plane.store, workspaceInstances, key('linus'), { timeoutMs: 20_000 });
  expect((await plane.store.get(clusters, key('linus'))).metadata.deletionTimestamp).toBeUndefined();
  await plane.store.delete(clusters, key('linus'));
});

it('says why the manifests of a step are not applied', async () => {
  const manifests = 'apiVersion: v1\nkind: Service\nmetadata: { name: Wrong_Name }\nspec: { ports: [{ port: 80 }] }\n';
  await plane.store.create(workspaceTemplates, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceTemplate',
    metadata: { name: 'broken' },
    spec: {
      defaults: { cluster: { mode: 'per-workspace', provisioner: 'virtual' } },
      steps: [{ id: 'one', title: 'One', imageTag: 'x:1', manifests }],
    },
  });
  await make('edith', { templateRef: { name: 'broken' } });
  const waiting = await until('edith', (seen) => Boolean(getCondition(seen, 'WorkloadReady')?.message));
  expect(getCondition(waiting, 'WorkloadReady')?.message).toMatch(/manifests of step one.*Wrong_Name/s);
  await plane.store.delete(workspaceInstances, key('edith'));
  await waitForGone(plane.store, workspaceInstances, key('edith'), { timeoutMs: 20_000 });
});

it('workspaces of one template share a cluster, each in a namespace that is all they reach', async () => {
  await plane.store.create(workspaceTemplates, {
    apiVersion: 'workshop.platform/v1alpha1',
    kind: 'WorkspaceTemplate',
    metadata: { name: 'together' },
    spec: { defaults: { cluster: { mode: 'shared', provisioner: 'virtual' } } },
  });
  for (const name of ['rosa', 'lise']) await make(name, { templateRef: { name: 'together' } });
  const shellOf = async (name: string) => {
    const { metadata } = await running(name);
    const workload = plane.workloads.find((each) => each.name === 'process');
    const ref = { id: metadata.uid as string, name };
    return async (command: string) => await workload?.run(ref, command, { timeoutMs: 20_000 });
  };
  const [rosa, lise] = await Promise.all(['rosa', 'lise'].map(shellOf));
  expect(await rosa?.('kubectl create configmap mine --from-literal=a=b')).toMatchObject({ code: 0, stderr: '' });
  expect(await rosa?.('kubectl get configmap mine -o name')).toMatchObject({ stdout: 'configmap/mine\n' });
  expect((await lise?.('kubectl get configmap mine'))?.stderr).toContain('not found');
  expect((await lise?.('kubectl -n kube-system get configmaps'))?.stderr).toContain('forbidden');
  expect((await lise?.('kubectl get nodes'))?.stderr).toContain('forbidden');
  await plane.store.delete(workspaceInstances, key('rosa'));
  await waitForGone(plane.store, workspaceInstances, key('rosa'), { timeoutMs: 20_000 });
  expect(await lise?.('kubectl get configmaps')).toMatchObject({ code: 0 });
  await plane.store.delete(workspaceInstances, key('lise'));
  await waitForGone(plane.store, workspaceInstances, key('lise'), { timeoutMs: 20_000 });
  await waitForGone(plane.store, clusters, { namespace: 'rookery-shared', name: 'together' }, { timeoutMs: 20_000 });
});

it('takes the namespace that was made for it along, and no other', async () => {
  await ensureNamespace(plane.store, 'ws-mary', 'mary');
  for (const name of ['mary', 'emmy']) {
    await make(name);
    await running(name);
    await plane.store.delete(workspaceInstances, key(name));
    await waitForGone(plane.store, workspaceInstances, key(name), { timeoutMs: 20_000 });
  }
  await waitForGone(plane.store, namespaces, { name: 'ws-mary' }, { timeoutMs: 20_000 });
  expect((await plane.store.get(namespaces, { name: 'ws-emmy' })).metadata.deletionTimestamp).toBeUndefined();
});

it('leaves nothing behind', async () => {
  for (const name of ['ada', 'eve']) await plane.store.delete(workspaceInstances, key(name));
  for (const name of ['ada', 'eve']) {
    await waitForGone(plane.store, workspaceInstances, key(name), { timeoutMs: 20_000 });
    await expect(plane.store.get(clusters, key(name))).rejects.toSatisfy(isNotFound);
  }
  expect(readdirSync(plane.home.workspaces('process'))).toEqual([]);
});
