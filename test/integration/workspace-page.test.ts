// The acceptance of a workspace on a bare machine, in a real browser: the student's own cluster in the terminal, checks, the next step, steps that are not open yet.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namespaces, workspaceInstances, workspaceTemplates } from '../../src/api/resources.ts';
import { systemClock, systemRandom } from '../../src/clock.ts';
import { loadConfig } from '../../src/config.ts';
import { ControlPlane } from '../../src/embedded/control-plane.ts';
import { serveWorkspaces } from '../../src/http/index.ts';
import { WorkspaceLinks } from '../../src/http/workspace-links.ts';
import { waitFor, waitForGone } from '../../src/kube/index.ts';
import { silentLogger } from '../../src/telemetry/log.ts';
import { compile } from '../../src/workshop/compile.ts';
import { loadWorkshop, type Workshop } from '../../src/workshop/load.ts';
import { templateOf } from '../../src/workshop/template.ts';

const CHROMIUM = '/usr/bin/chromium';
const SLOW = { timeout: 90_000 };
const key = { namespace: 'ws-ada', name: 'ada' };

describe('the page of a workspace, in Chromium', () => {
  const home = mkdtempSync(join(tmpdir(), 'rookery-page-'));
  let plane: ControlPlane;
  let browser: Browser;
  let page: Page;
  let link: string;

  beforeAll(async () => {
    // The page comes from the build, wherever the rest comes from.
    execFileSync(process.execPath, [fileURLToPath(new URL('../../tools/build.mjs', import.meta.url))]);
    plane = await ControlPlane.start({
      config: loadConfig({}, { home, port: 0 }),
      terminals: (parts) => serveWorkspaces({ ...parts, address: '127.0.0.1', port: 0, log: silentLogger }),
    });
    const { workshop } = await loadWorkshop(fileURLToPath(new URL('../../examples/kubernetes-101', import.meta.url)));
    const template = templateOf(compile(workshop as Workshop, systemClock));
    template.spec.defaults.cluster.provisioner = 'virtual';
    await plane.store.create(workspaceTemplates, template);
    await plane.store.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: key.namespace } });
    await plane.store.create(workspaceInstances, {
      apiVersion: 'workshop.platform/v1alpha1',
      kind: 'WorkspaceInstance',
      metadata: key,
      spec: { templateRef: { name: 'kubernetes-101' }, owner: 'ada' },
    });
    const instance = await waitFor(plane.store, workspaceInstances, key, (seen) => seen?.status?.phase === 'Running', {
      timeoutMs: 60_000,
    });
    const links = await WorkspaceLinks.open(plane.home.linkKey, systemClock, systemRandom);
    const uid = instance?.metadata.uid as string;
    const pass = links.sign({ ...key, uid, role: 'student' }, 600_000);
    link = `${new URL('/open', instance?.status?.accessEndpoints.webTerminal)}?link=${pass}`;
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
    });
    page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await plane?.store.delete(workspaceInstances, key);
    if (plane) await waitForGone(plane.store, workspaceInstances, key, { timeoutMs: 30_000 });
    await plane?.close();
    rmSync(home, { recursive: true, force: true });
  }, 60_000);

  const screen = async () => (await page.locator('.xterm-rows').textContent()) ?? '';
  const type = async (text: string) => {
    await page.click('#terminal');
    await page.keyboard.type(`${text}\n`);
  };
  const stepNamed = (name: string) => page.locator(`nav button:has-text("${name}")`);

  it('shows the instructions and a terminal on the student’s own cluster', SLOW, async () => {
    await page.goto(link);
    await page.waitForSelector('.xterm-rows');
    expect(new URL(page.url()).search, 'the link does not stay in the address bar').toBe('');
    await expect.poll(screen, { timeout: 60_000 }).toContain('$');
    await type('kubectl create configmap mine --from-literal=a=b; kubectl get pods');
    await expect.poll(screen, { timeout: 60_000 }).toContain('configmap/mine created');
    await expect.poll(screen, { timeout: 60_000 }).toContain('No resources found in default namespace');
  });

  it('does not let anybody past a step that is not done, and says why', SLOW, async () => {
    expect(await stepNamed('Deploy').isDisabled()).toBe(true);
    expect(await stepNamed('Deploy').getAttribute('title')).toBe('it requires what is not done yet: 1-look-around');
    await page.click('#check');
    await page.waitForSelector('#checks li.failed', SLOW);
    expect(await page.locator('#next').isHidden()).toBe(true);
  });

  it('goes on when the checks pass', SLOW, async () => {
    await type('kubectl create namespace playground; kubectl get nodes -o name | wc -l > ~/nodes.txt');
    await expect.poll(screen, { timeout: 60_000 }).toContain('namespace/playground created');
    await page.click('#check');
    await page.waitForSelector('#next:not([hidden])', SLOW);
    expect(await page.locator('#checks li.passed').count()).toBe(2);
    await page.click('#next');
    await page.waitForSelector('nav button[aria-current="step"]:has-text("Deploy")', SLOW);
    expect(await stepNamed('Look around').getAttribute('class')).toBe('passed');
    expect(await stepNamed('Repair').isDisabled()).toBe(true);
  });

  it('keeps the screen over a reload', SLOW, async () => {
    await expect.poll(screen, { timeout: 60_000 }).toContain('$');
    await type('echo trea"sure"');
    await expect.poll(screen, { timeout: 60_000 }).toContain('treasure');
    await page.reload();
    await expect.poll(screen, { timeout: 60_000 }).toContain('treasure');
  });
});
