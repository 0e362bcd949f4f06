// What an engine leaves in the kernel when it is killed: processes in its cgroup, mounts, interfaces, firewall chains.
import { existsSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { run, sleep, startTime, tryRun } from '../process.ts';

const controllers = '/sys/fs/cgroup';

function below(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => [...below(join(folder, entry.name)), join(folder, entry.name)]);
}

/** Kills every process below a cgroup, in whichever hierarchy it is, and removes the empty folders. */
export async function killCgroup(name: string): Promise<void> {
  const hierarchies = existsSync(join(controllers, 'cgroup.controllers'))
    ? [controllers]
    : readdirSync(controllers).map((entry) => join(controllers, entry));
  const roots = hierarchies.map((root) => join(root, name)).filter((folder) => existsSync(folder));
  for (let round = 0; round < 20; round++) {
    const pids = new Set<number>();
    for (const folder of roots.flatMap((root) => [...below(root), root])) {
      try {
        for (const pid of readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean))
          pids.add(Number(pid));
      } catch {
        // removed meanwhile
      }
    }
    pids.delete(0);
    if (pids.size === 0) break;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // gone meanwhile
      }
    }
    await sleep(100);
  }
  for (const folder of roots.flatMap((root) => [...below(root), root])) {
    try {
      rmdirSync(folder);
    } catch {
      // still busy: an empty cgroup costs nothing and the next stop tries again
    }
  }
}

/** Unmounts whatever is mounted below these folders, the deepest first. */
export async function unmountBelow(folders: readonly string[]): Promise<void> {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => folders.some((folder) => path === folder || path.startsWith(`${folder}/`)))
    .sort((a, b) => b.length - a.length);
  for (const path of mounts) await tryRun('umount', ['-l', path]);
}

/** The bed's bridge and those the engine named after its networks. */
export async function removeInterfaces(bridge: string): Promise<void> {
  const links = JSON.parse((await run('ip', ['-j', 'link', 'show'])) || '[]') as { ifname: string; master?: string }[];
  const ours = (name: string): boolean => name === bridge || /^br-[0-9a-f]{12}$/.test(name);
  for (const link of links) if (link.master && ours(link.master)) await tryRun('ip', ['link', 'delete', link.ifname]);
  for (const link of links) if (ours(link.ifname)) await tryRun('ip', ['link', 'delete', link.ifname]);
}

/** One that uses the same firewall as we do. A zombie is not an engine: nobody may be left to collect one that was killed. */
export function anotherEngine(): boolean {
  const network = readlinkSync('/proc/self/ns/net');
  return readdirSync('/proc').some((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        readFileSync(`/proc/${name}/comm`, 'utf8').trim() === 'dockerd' &&
        startTime(Number(name)) !== undefined &&
        readlinkSync(`/proc/${name}/ns/net`) === network
      );
    } catch {
      return false;
    }
  });
}

/** Docker never removes its chains. They go only when no other engine on this machine may be using them. */
export async function removeFirewallChains(): Promise<void> {
  if (anotherEngine()) return;
  for (const family of ['iptables', 'ip6tables']) {
    for (const table of ['filter', 'nat']) {
      const saved = await tryRun(`${family}-save`, ['-t', table]);
      if (saved.code !== 0) continue;
      const lines = saved.stdout.split('\n');
      const rules = lines.filter(
        (line) =>
          line.startsWith('-A ') &&
          (/\bDOCKER/.test(line) || /\b(rookery0|br-[0-9a-f]{12})\b/.test(line) || /-s 10\.20[0-3]\./.test(line)),
      );
      for (const rule of rules) await tryRun('sh', ['-c', `${family} -t ${table} -D ${rule.slice(3)}`]);
      const chains = lines
        .filter((line) => line.startsWith(':DOCKER'))
        .map((line) => line.slice(1).split(' ')[0] as string);
      for (const chain of chains) await tryRun(family, ['-t', table, '-F', chain]);
      for (const chain of chains) await tryRun(family, ['-t', table, '-X', chain]);
      if (table === 'filter' && chains.length > 0) await tryRun(family, ['-P', 'FORWARD', 'ACCEPT']);
    }
  }
}
