// helm, unmodified, on a virtual cluster of the product: a chart with hooks is installed, upgraded, rolled back and taken away, and helm waits for it as on any cluster.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { program } from '../bed/environment.ts';
import { run, tryRun } from '../bed/process.ts';
import { Kubectl } from './support/kubectl.ts';
import { Rookery } from './support/rookery.ts';

const chart = join(import.meta.dirname, 'charts/nest');

describe('helm on a virtual cluster', () => {
  const rookery = new Rookery('helm-home', process.env);
  let kubectl: Kubectl;
  const helm = (...args: string[]): Promise<string> =>
    run(program('helm', 'helm'), ['--kubeconfig', kubectl.kubeconfig, ...args], {
      env: { ...process.env, HOME: rookery.home },
      timeoutMs: 120_000,
    });
  const names = async (...kinds: string[]): Promise<string[]> =>
    (await kubectl.run('get', kinds.join(','), '-o', 'name')).trim().split('\n').filter(Boolean);
  const greeting = (): Promise<string> => kubectl.run('get', 'configmap', 'web', '-o', 'jsonpath={.data.greeting}');

  beforeAll(async () => {
    await rookery.up();
    const made = await rookery.run('cluster', 'create', 'nest', '--provisioner', 'virtual');
    expect(made, made.stderr).toMatchObject({ code: 0 });
    const path = (await rookery.run('cluster', 'kubeconfig', 'nest', '--path')).stdout.trim();
    expect(existsSync(path)).toBe(true);
    kubectl = new Kubectl(path);
  });
  afterAll(() => rookery.close());

  test('install waits for hooks and for the deployment', async () => {
    const said = await helm('install', 'web', chart, '--wait', '--timeout', '60s');
    expect(said).toContain('STATUS: deployed');
    expect(await names('jobs')).toEqual(['job.batch/web-post-install', 'job.batch/web-pre-install']);
    expect(await kubectl.run('get', 'deployment', 'web', '-o', 'jsonpath={.status.readyReplicas}')).toBe('2');
    expect(await greeting()).toBe('hello');
  });

  test('a second install of that name is refused', async () => {
    const { code, stderr } = await tryRun(program('helm', 'helm'), [
      '--kubeconfig',
      kubectl.kubeconfig,
      'install',
      'web',
      chart,
    ]);
    expect(code).not.toBe(0);
    expect(stderr).toContain('cannot re-use a name that is still in use');
  });

  test('upgrade changes what changed, and keeps the history', async () => {
    await helm(
      'upgrade',
      'web',
      chart,
      '--set',
      'greeting=welcome',
      '--set',
      'replicas=3',
      '--wait',
      '--timeout',
      '60s',
    );
    expect(await greeting()).toBe('welcome');
    expect(await kubectl.run('get', 'deployment', 'web', '-o', 'jsonpath={.status.readyReplicas}')).toBe('3');
    const history = JSON.parse(await helm('history', 'web', '-o', 'json')) as { revision: number; status: string }[];
    expect(history.map(({ revision, status }) => `${revision} ${status}`)).toEqual(['1 superseded', '2 deployed']);
  });

  test('rollback brings the first release back', async () => {
    await helm('rollback', 'web', '1', '--wait', '--timeout', '60s');
    expect(await greeting()).toBe('hello');
    expect(await kubectl.run('get', 'deployment', 'web', '-o', 'jsonpath={.spec.replicas}')).toBe('2');
    expect(await names('jobs')).toContain('job.batch/web-pre-rollback');
  });

  test('server-side apply by another manager is a conflict that names it', async () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'web', namespace: 'default' },
      data: { greeting: 'mine' },
    };
    const args = ['apply', '--server-side', '--field-manager=someone', '-f', '-'];
    const { code, stderr } = await kubectl.try(args, JSON.stringify(object));
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/conflict with "helm"/);
  });

  test('uninstall leaves only what hooks were told to leave', async () => {
    await helm('uninstall', 'web', '--wait', '--timeout', '60s');
    expect(await names('deployments', 'services', 'secrets')).toEqual(['service/kubernetes']);
    expect(await names('jobs')).not.toContain('job.batch/web-post-delete');
    expect(JSON.parse(await helm('list', '-a', '-o', 'json'))).toEqual([]);
  });
});
