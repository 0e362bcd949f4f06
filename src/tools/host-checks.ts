/** What this machine can do and what it lacks, each with the command that helps: the facts behind `rookery doctor`. */
import { readFile, statfs } from 'node:fs/promises';
import { RookeryError } from '../errors.ts';
import { catalog } from './catalog.ts';
import { Docker } from './docker.ts';
import { findTool } from './find-tool.ts';
import type { Processes } from './processes.ts';
import { versionText } from './versions.ts';

export interface Check {
  name: string;
  /** `warn`: works, but something will bite. */
  state: 'ok' | 'warn' | 'missing';
  detail: string;
  /** The command that helps. */
  fix?: string;
  /** Provisioners that cannot work without it; none: everything can. */
  neededBy: string[];
}

const INOTIFY = [
  ['max_user_instances', 512],
  ['max_user_watches', 524_288],
] as const;
const DISK_BYTES = 5 * 1024 ** 3;
/** Provisioners whose nodes are containers. */
const DOCKER_MAKES = ['kind', 'k3d'];

export async function checkHost(processes: Processes, folder: string): Promise<Check[]> {
  const tools = await Promise.all(Object.keys(catalog().tools).map((name) => checkTool(name, processes)));
  const docker = new Docker(processes);
  const engine = await checkEngine(docker);
  const rest = engine.state === 'ok' ? await checkImages(docker) : [];
  return [...tools, engine, ...rest, ...(await checkInotify()), await checkCgroups(), await checkDisk(folder)];
}

async function checkTool(name: string, processes: Processes): Promise<Check> {
  const neededBy = name === 'docker' ? DOCKER_MAKES : madeWith(name);
  const { tool, ...search } = await findTool(name, processes);
  if (tool) return { name, state: 'ok', detail: `${versionText(tool.version)} at ${tool.path}`, neededBy };
  const { why, fix } = search as { why: string; fix: string };
  return { name, state: 'missing', detail: why, fix, neededBy };
}

function madeWith(tool: string): string[] {
  return Object.entries(catalog().provisioners).flatMap(([name, entry]) => (entry.tool === tool ? [name] : []));
}

async function checkEngine(docker: Docker): Promise<Check> {
  const common = { name: 'docker engine', neededBy: DOCKER_MAKES };
  try {
    return { ...common, state: 'ok', detail: `answers, version ${await docker.version()}` };
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    return { ...common, state: 'missing', detail: error.message, fix: error.hint };
  }
}

async function checkImages(docker: Docker): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [provisioner, { repository }] of Object.entries(catalog().provisioners)) {
    if (!repository) continue;
    const images = await docker.images(repository);
    const tags = images.map(({ tag, digest }) => tag ?? digest).join(', ');
    const common = { name: `images of ${provisioner}`, neededBy: [] };
    if (images.length > 0) checks.push({ ...common, state: 'ok', detail: `here already: ${tags}` });
    else {
      const detail = 'none on this machine: the first cluster of a version fetches one';
      const fix = `docker pull ${repository}:<version>   # or docker load < image.tar`;
      checks.push({ ...common, state: 'warn', detail, fix });
    }
  }
  return checks;
}

async function checkInotify(): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [name, least] of INOTIFY) {
    const value = Number(await readFile(`/proc/sys/fs/inotify/${name}`, 'utf8').catch(() => 'NaN'));
    if (Number.isNaN(value)) continue;
    const common = { name: `inotify ${name}`, neededBy: [] };
    if (value >= least) checks.push({ ...common, state: 'ok', detail: String(value) });
    else {
      const detail = `${value}: enough for a few nodes, more need ${least}`;
      checks.push({ ...common, state: 'warn', detail, fix: `sudo sysctl fs.inotify.${name}=${least}` });
    }
  }
  return checks;
}

async function checkCgroups(): Promise<Check> {
  const common = { name: 'cgroups', neededBy: [] };
  if (process.platform !== 'linux') return { ...common, state: 'ok', detail: "the Docker machine's own" };
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  if (/^\S+ \/sys\/fs\/cgroup cgroup2 /m.test(mounts)) return { ...common, state: 'ok', detail: 'v2' };
  const detail = 'v1: released node images of Kubernetes 1.35 and later do not start on it';
  return { ...common, state: 'warn', detail, fix: 'boot with systemd.unified_cgroup_hierarchy=1, or choose 1.34' };
}

async function checkDisk(folder: string): Promise<Check> {
  const common = { name: 'disk', neededBy: [] };
  const { bavail, bsize } = await statfs(folder).catch(() => statfs('/'));
  const free = bavail * bsize;
  const detail = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= DISK_BYTES) return { ...common, state: 'ok', detail };
  return { ...common, state: 'warn', detail: `${detail}; a node takes about 1.2 GiB`, fix: 'docker system prune' };
}
