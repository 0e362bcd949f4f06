// What a run may not leave on the machine, looked for from outside: not by asking the tools that should have removed it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dockerFolder, runFolder } from '../bed/paths.ts';
import { run, sleep, tryRun } from '../bed/process.ts';
import { anotherEngine } from '../bed/services/kernel.ts';
import { liveLeases } from '../bed/services/service.ts';

/** Reapers of other people's services may be at work: only what stays counts. */
export async function leftovers(): Promise<string[]> {
  for (let tries = 0; ; tries++) {
    const found = await look();
    if (found.length === 0 || tries === 3) return found;
    await sleep(5000);
  }
}

async function look(): Promise<string[]> {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (command.includes(`${runFolder}/docker`)) found.push(`process ${pid}: ${command.slice(0, 100)}`);
    } catch {
      // ended meanwhile
    }
  }
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '');
  for (const path of mounts)
    if (path.startsWith(dockerFolder) || path.startsWith(`${runFolder}/docker`)) found.push(`mount ${path}`);
  const links = JSON.parse(await run('ip', ['-j', 'link', 'show'])) as { ifname: string }[];
  for (const { ifname } of links)
    if (/^(rookery0|br-[0-9a-f]{12}|veth)/.test(ifname)) found.push(`interface ${ifname}`);
  // Rules that look like the bed's are another engine's while there is one.
  for (const family of anotherEngine() ? [] : ['iptables', 'ip6tables']) {
    const rules = (await tryRun(`${family}-save`, [])).stdout
      .split('\n')
      .filter((line) => /DOCKER|rookery0|br-[0-9a-f]{12}|10\.20[0-3]\./.test(line));
    for (const rule of rules) found.push(`${family} rule ${rule}`);
  }
  for (const name of existsSync(runFolder) ? readdirSync(runFolder) : []) {
    if (liveLeases(`${runFolder}/${name}`).length === 0) found.push(`service ${name} that nobody holds`);
  }
  const containers = `${dockerFolder}/containers`;
  if (existsSync(containers)) for (const id of readdirSync(containers)) found.push(`container ${id.slice(0, 12)}`);
  const volumes = `${dockerFolder}/volumes`;
  if (existsSync(volumes))
    for (const name of readdirSync(volumes))
      if (!name.includes('.') && name !== 'backingFsBlockDev') found.push(`volume ${name.slice(0, 12)}`);
  return found;
}
