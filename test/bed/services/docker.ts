// One Docker engine for the bed, apart from any other: its own socket, data, bridge, address pool and cgroup. Everything
// in it is the bed's, so cleaning up is removing all that is in it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderOf } from '../cache.ts';
import { bedEnvironment, program } from '../environment.ts';
import { dockerFolder } from '../paths.ts';
import { run, sleep, tryRun, waitFor } from '../process.ts';
import { killCgroup, removeFirewallChains, removeInterfaces, unmountBelow } from './kernel.ts';
import { killInstance, processesOf } from './mark.ts';
import type { ServiceKind, ServiceState } from './service.ts';

const thaw = fileURLToPath(new URL('thaw.sh', import.meta.url));
const bridge = 'rookery0';
/** Two beds on one machine must not end each other's containers. */
const cgroup = process.env.ROOKERY_BED_HOME ? `rookery-bed-${digestOf(dockerFolder)}` : 'rookery-bed';

/** What nodes in containers need from the machine; the old values are kept and put back. */
const settings: Record<string, string> = {
  'net/ipv4/ip_forward': '1',
  'fs/inotify/max_user_instances': '8192',
  'fs/inotify/max_user_watches': '1048576',
};

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

const client = (): string => program('docker', 'docker');

async function removeContents(env: NodeJS.ProcessEnv): Promise<void> {
  const docker = (...args: string[]): Promise<string> => run(client(), args, { env, timeoutMs: 60_000 });
  const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);
  const containers = words(await docker('ps', '-aq'));
  if (containers.length > 0) await docker('rm', '-f', '-v', ...containers);
  const networks = words(await docker('network', 'ls', '-q', '--filter', 'type=custom'));
  if (networks.length > 0) await docker('network', 'rm', ...networks);
  const volumes = words(await docker('volume', 'ls', '-q'));
  if (volumes.length > 0) await docker('volume', 'rm', '-f', ...volumes);
}

async function answers(socket: string, timeoutMs = 5000): Promise<boolean> {
  return (await tryRun(client(), ['-H', `unix://${socket}`, 'info'], { timeoutMs })).code === 0;
}

export const docker: ServiceKind = {
  name: 'docker',
  shared: true,
  async start({ folder, spawn, env, say }) {
    const restore: Record<string, string> = {};
    for (const [name, value] of Object.entries(settings)) {
      restore[name] = readFileSync(`/proc/sys/${name}`, 'utf8').trim();
      if (Number(restore[name]) < Number(value)) writeFileSync(`/proc/sys/${name}`, value);
    }
    writeFileSync(join(folder, 'restore.json'), JSON.stringify(restore));
    await tryRun('ip', ['link', 'add', bridge, 'type', 'bridge']);
    await tryRun('ip', ['address', 'add', '10.203.255.1/24', 'dev', bridge]);
    await run('ip', ['link', 'set', bridge, 'up']);
    mkdirSync(dockerFolder, { recursive: true });
    const socket = join(folder, 'docker.sock');
    Object.assign(env, { PATH: bedEnvironment().PATH });
    const proxies = ['usr/libexec/docker/docker-proxy', 'usr/sbin/docker-proxy', 'usr/bin/docker-proxy'].map((file) =>
      join(folderOf('docker'), file),
    );
    const proxy = proxies.find((file) => existsSync(file));
    spawn(
      program('docker', 'dockerd'),
      [
        '--host',
        `unix://${socket}`,
        '--data-root',
        dockerFolder,
        '--exec-root',
        join(folder, 'exec'),
        '--pidfile',
        join(folder, 'dockerd.pid'),
        '--bridge',
        bridge,
        '--default-address-pool',
        'base=10.200.0.0/15,size=24',
        '--cgroup-parent',
        `/${cgroup}`,
        '--config-file',
        '/dev/null',
        '--exec-opt',
        'native.cgroupdriver=cgroupfs',
        ...(proxy ? ['--userland-proxy-path', proxy] : []),
      ],
      'dockerd.log',
    );
    const freezer = '/sys/fs/cgroup/freezer';
    if (existsSync(freezer)) spawn(thaw, [join(freezer, cgroup)], 'thaw.log');
    await waitFor('dockerd', 180_000, () => answers(socket), 200);
    const own = { DOCKER_HOST: `unix://${socket}`, DOCKER_SOCK: socket };
    say('removing what an earlier run left in the engine');
    await removeContents({ ...process.env, ...own });
    return { env: own, restore };
  },

  // Others may be working in it: it is only given up when it has not answered for a long time, also on a busy machine.
  healthy: async (state: ServiceState) =>
    waitFor('dockerd', 60_000, () => answers(state.env.DOCKER_SOCK as string, 20_000), 500).catch(() => false),

  async stop(folder) {
    const socket = join(folder, 'docker.sock');
    if (existsSync(socket) && (await answers(socket))) {
      await removeContents({ ...process.env, DOCKER_HOST: `unix://${socket}` }).catch(() => {}); // what resists is removed by force below
      killInstance(folder, 'SIGTERM');
      for (let i = 0; i < 50 && processesOf(folder).length > 0; i++) await sleep(200);
    }
    killInstance(folder);
    await killCgroup(cgroup);
    await unmountBelow([dockerFolder, folder]);
    await removeInterfaces(bridge);
    await removeFirewallChains();
    const kept = join(folder, 'restore.json');
    if (existsSync(kept)) {
      const values = JSON.parse(readFileSync(kept, 'utf8')) as Record<string, string>;
      for (const [name, value] of Object.entries(values)) writeFileSync(`/proc/sys/${name}`, value);
    }
  },
};
