/**
 * A class the way instructors make one: `rookery workspace create --students class.csv`, each student with a shell and a virtual cluster, until all of them run; then their time
 * is up, all at once, and what is left is counted: workspaces, clusters, namespaces, files.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { namespaces, workspaceInstances } from '../src/api/resources.ts';
import { kubeconfigConnection, RemoteStore, type ResourceRef } from '../src/kube/index.ts';
import { atMost, type Row } from './table.ts';
import { elapsed } from './timing.ts';
import { cpuSeconds } from './virtual-clusters.ts';

const rookery = fileURLToPath(new URL('../bin/rookery', import.meta.url));
const PATIENCE_MS = 600_000;
const TEMPLATE = `
apiVersion: workshop.platform/v1alpha1
kind: WorkspaceTemplate
metadata: { name: class }
spec:
  defaults:
    lifecycle: { mode: ephemeral, ttl: 8h }
    cluster: { mode: per-workspace, provisioner: virtual }
  steps: [{ id: one, title: One, imageTag: 'example/one:1', files: [{ path: work/readme, content: hello }] }]
`;

export async function measureWorkspaces(folder: string, count: number): Promise<Row[]> {
  const home = join(folder, 'home');
  const run = (...args: string[]) => command(['--home', home, ...args]);
  const list = async () =>
    JSON.parse(await run('workspace', 'list', '-o', 'json')) as { status?: { phase?: string } }[];
  const students = join(folder, 'class.csv');
  const template = join(folder, 'template.yaml');
  writeFileSync(students, `student\n${Array.from({ length: count }, (_, n) => `student-${n}`).join('\n')}\n`);
  writeFileSync(template, TEMPLATE);
  await run('up', '--detach', '--no-demo', '--port', '0');
  try {
    await run('template', 'apply', '-f', template);
    const { pid } = JSON.parse(readFileSync(join(home, 'state.json'), 'utf8')) as { pid: number };
    const before = cpuSeconds([pid]);
    const made = await elapsed(() => run('workspace', 'create', '-t', 'class', '--students', students));
    const cpu = cpuSeconds([pid]) - before;
    const isRunning = (await list()).filter(({ status }) => status?.phase === 'Running').length;
    if (isRunning !== count) throw new Error(`${isRunning} of ${count} workspaces run`);
    writeFileSync(template, TEMPLATE.replace('ttl: 8h', 'ttl: 1s'));
    const gone = await elapsed(async () => {
      await run('template', 'apply', '-f', template);
      await noneOf(workspaceInstances, home);
    });
    const left = await leftovers(home, run);
    if (left.length > 0) throw new Error(`left: ${left.slice(0, 10).join(', ')}${left.length > 10 ? ', …' : ''}`);
    return [
      { what: `${count} workspaces with virtual clusters from a CSV`, unit: 's', ours: made / 1000, goal: atMost(30) },
      { what: '… processor time of the server', unit: 's', ours: cpu },
      { what: '… gone when their time is up', unit: 's', ours: gone / 1000 },
      { what: '… and left of them', unit: 'things', ours: left.length, goal: atMost(0) },
    ];
  } finally {
    await run('down');
  }
}

async function leftovers(home: string, run: (...args: string[]) => Promise<string>): Promise<string[]> {
  const clusters = JSON.parse(await run('cluster', 'list', '-o', 'json')) as unknown[];
  // Those on their way out have a moment.
  await noneOf(namespaces, home, 'ws-');
  const files = ['data/clusters', 'data/snapshots', 'provisioners/virtual', 'workspaces/process', 'workspaces/docker'];
  const names = files.flatMap((folder) => filesIn(join(home, folder)).map((file) => join(folder, file)));
  return [...clusters.map((each) => JSON.stringify(each)), ...names];
}

async function noneOf(resource: ResourceRef, home: string, prefix = ''): Promise<void> {
  const data = readFileSync(join(home, 'kubeconfig'), 'utf8');
  const store = new RemoteStore({ connection: await kubeconfigConnection(data, 'this machine') });
  try {
    for (const end = Date.now() + PATIENCE_MS; ; await delay(250)) {
      const { items } = await store.list(resource);
      const left = items.filter(({ metadata }) => metadata.name?.startsWith(prefix)).length;
      if (left === 0) return;
      if (Date.now() > end) throw new Error(`${left} ${resource.plural} are left`);
    }
  } finally {
    await store.close();
  }
}

function filesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function command(args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = {
      ...process.env,
      ROOKERY_WEB_PORT: '0',
      NO_COLOR: '1',
      DOCKER_HOST: 'unix:///nonexistent/docker.sock',
    };
    const child = spawn(process.execPath, [rookery, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let problems = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      problems += text;
    });
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`rookery ${args.join(' ')}: ${problems}`)),
    );
  });
}
