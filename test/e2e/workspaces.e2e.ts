// A workshop as people use it: images compiled with Docker, a k3d cluster for each student, their page in a real browser.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scratch } from '../bed/cache.ts';
import { waitFor } from '../bed/process.ts';
import { k3sVersion } from '../bed/versions.ts';
import { type K3dEngine, k3dEngine } from './support/k3d-provisioner.ts';
import { Rookery } from './support/rookery.ts';

const example = new URL('../../examples/kubernetes-101', import.meta.url).pathname;
const template = 'kubernetes-101';
const students = ['ada', 'eve'];
const images = ['1-look-around', '2-deploy', '3-repair'].map((step) => `rookery-workshop/${template}:${step}`);
const nameOf = (student: string) => `${template}-${student}`;

describe('a class with containers', () => {
  let docker: K3dEngine;
  let rookery: Rookery;
  let browser: Browser;
  const files = scratch('workspaces');

  const ok = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await rookery.run(...args);
    expect(code, `rookery ${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };
  const uidOf = async (student: string): Promise<string> =>
    JSON.parse(await ok('workspace', 'get', nameOf(student), '-o', 'json')).metadata.uid;
  const inside = async (student: string, command: string) =>
    docker.try('docker', 'exec', `rookery-ws-${await uidOf(student)}`, 'sh', '-c', command);

  beforeAll(async () => {
    docker = await k3dEngine(template, 'workspace-image', 'k3d-proxy-image');
    await docker.try('docker', 'image', 'rm', '-f', ...images);
    await docker.docker('tag', 'rookery-bed/workspace:1', 'rookery/workspace:latest');
    rookery = new Rookery('workspaces-home', { ...docker.env, ROOKERY_WEB_PORT: '0' });
    await rookery.up();
    browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
    });
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    for (const student of students) await rookery?.run('workspace', 'delete', nameOf(student), '--timeout', '120');
    await rookery?.close();
    await docker?.try('docker', 'image', 'rm', '-f', 'rookery/workspace:latest', ...images);
    await docker?.release();
    rmSync(files, { recursive: true, force: true });
  }, 240_000);

  test('a compiled workshop becomes a template; unchanged images are not made again', async () => {
    const artifact = join(files, 'workshop.sqlite');
    const compile = () => ok('workshop', 'build', 'compile', example, '--artifact', artifact);
    expect(await compile()).toContain('image rookery-workshop/kubernetes-101:2-deploy made');
    expect(await compile()).toContain('image rookery-workshop/kubernetes-101:2-deploy is unchanged');
    await ok('template', 'sync', artifact);
    const quiet = { cluster: { mode: 'per-workspace', provisioner: 'k3d', version: k3sVersion } };
    const patch = JSON.stringify({ spec: { defaults: quiet } });
    await rookery.kubectl.run('patch', 'workspacetemplate', template, '--type=merge', '-p', patch);
  });

  test('each student has a container and a k3d cluster of their own', async () => {
    await Promise.all(
      students.map((student) =>
        ok('workspace', 'create', nameOf(student), '-t', template, '--owner', student, '--timeout', '280'),
      ),
    );
    for (const student of students) {
      const { code, stdout } = await inside(student, 'kubectl get nodes -o name');
      expect(code).toBe(0);
      expect(stdout).toContain(`node/k3d-${template}`);
    }
  });

  test('in the browser: own cluster in the terminal, a check that passes, the next step', async () => {
    const link = (await ok('workspace', 'open', nameOf('ada'))).trim();
    const page: Page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
    await page.goto(link);
    await page.waitForSelector('.xterm-rows');
    const screen = async () => (await page.locator('.xterm-rows').textContent()) ?? '';
    await waitFor('a prompt', 30_000, async () => /[$#]/.test(await screen()), 200);
    await page.click('#terminal');
    await page.keyboard.type('kubectl create namespace playground; kubectl get nodes -o name | wc -l > ~/nodes.txt\n');
    await waitFor('kubectl', 30_000, async () => (await screen()).includes('namespace/playground created'), 200);
    await page.click('#check');
    await page.waitForSelector('#next:not([hidden])', { timeout: 30_000 });
    await page.reload();
    await waitFor('the screen as it was', 30_000, async () => (await screen()).includes('playground created'), 200);
    await page.click('#next');
    await page.waitForSelector('nav button[aria-current="step"]:has-text("Deploy")', { timeout: 60_000 });
    await page.close();
  });

  test('students cannot reach each other: cluster, container, terminal', async () => {
    const address = (
      await docker.docker(
        'inspect',
        '--format',
        '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
        `rookery-ws-${await uidOf('eve')}`,
      )
    ).trim();
    const { stdout } = await inside('eve', "grep -o 'https://[^ ]*' ~/.kube/config");
    const server = stdout.trim();
    expect((await inside('eve', `curl -ks -m 5 ${server}/version`)).code).toBe(0);
    expect((await inside('ada', `curl -ks -m 5 ${server}/version`)).code).not.toBe(0);
    expect((await inside('ada', `timeout 5 bash -c '</dev/tcp/${address}/7681'`)).code).not.toBe(0);
    expect((await inside('ada', 'ls /run/rookery/../rookery-ws-* 2>/dev/null; ls /var/run/docker.sock')).code).not.toBe(
      0,
    );
    const link = new URL((await ok('workspace', 'open', nameOf('ada'))).trim());
    const cookie = `pass=${link.searchParams.get('link')}`;
    const page = new URL(`/w/ws-${nameOf('eve')}/${nameOf('eve')}/state`, link);
    expect((await fetch(page, { headers: { cookie } })).status).toBe(403);
  });

  test('suspend stops container and cluster, resume brings both back as they were', async () => {
    await inside('eve', 'kubectl create configmap kept --from-literal=a=b && echo mine > ~/file');
    await ok('workspace', 'suspend', nameOf('eve'));
    await waitFor(
      'stopped',
      60_000,
      async () => !(await docker.docker('ps', '--format', '{{.Names}}')).includes('-eve'),
      500,
    );
    await ok('workspace', 'resume', nameOf('eve'), '--timeout', '200');
    const { stdout } = await inside('eve', 'kubectl get configmap kept -o name; cat ~/file');
    expect(stdout).toBe('configmap/kept\nmine\n');
  });

  test('deleted, they leave nothing', async () => {
    await ok('workspace', 'delete', ...students.map(nameOf), '--timeout', '200');
    const left = (await docker.docker('ps', '-a', '--format', '{{.Names}}')).split('\n');
    expect(left.filter((name) => name.includes(template) || name.startsWith('rookery-ws-'))).toEqual([]);
    const networks = (await docker.docker('network', 'ls', '--format', '{{.Name}}')).split('\n');
    expect(networks.filter((name) => name.includes(template) || name.startsWith('rookery-ws-'))).toEqual([]);
  });
});
