/** Choosing how to make a cluster: by name, by what can be used here (`auto`), or by what an existing cluster was made with. */
import type { KubeObject } from '../api/object.ts';
import { systemClock } from '../clock.ts';
import type { Home } from '../embedded/home.ts';
import { RookeryError } from '../errors.ts';
import type { Availability, Provisioner } from '../provisioners/provisioner.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import { systemProcesses } from '../tools/processes.ts';

/** Docker gives k3d, or kind where k3d is not there. Never a simulated cluster, and never k3s, which takes a whole host. */
const AUTO_DOCKER = ['k3d', 'kind'];
/** For whom a cluster to live in was named. */
const AUTO_HOSTED = 'vcluster';

export function wayNamed(name: string): ClusterWay {
  const way = clusterWays.find((candidate) => candidate.name === name);
  if (way) return way;
  throw new RookeryError('cluster.provisioner', `there is no provisioner ${JSON.stringify(name)}`, {
    class: 'user',
    hint: `use one of ${[...clusterWays.map((known) => known.name), 'auto'].join(', ')}; see \`rookery provisioners\``,
  });
}

/** The way a cluster is made; undefined for one that other providers make. */
export function wayOf(cluster: KubeObject): ClusterWay | undefined {
  const reference = cluster.spec?.infrastructureRef;
  return clusterWays.find(
    ({ resource }) => resource.kind === reference?.kind && resource.group === reference?.apiGroup,
  );
}

// biome-ignore lint/suspicious/noExplicitAny: each way has a spec of its own.
export function openWay(way: ClusterWay, home: Home): Promise<Provisioner<any>> {
  return way.open({ processes: systemProcesses(), clock: systemClock, folder: home.provisioner(way.name) });
}

export async function chooseWay(name: string, home: Home, host?: string): Promise<ClusterWay> {
  if (name !== 'auto') return wayNamed(name);
  if (host) return wayNamed(AUTO_HOSTED);
  const lacking: string[] = [];
  for (const way of clusterWays.filter((candidate) => AUTO_DOCKER.includes(candidate.name)).sort(byPreference)) {
    const probe = await (await openWay(way, home)).probe();
    if (probe.isUsable) return way;
    lacking.push(`${way.name}: ${probe.why}; ${probe.fix}`);
  }
  throw new RookeryError('cluster.auto', `nothing here can make a real cluster\n  ${lacking.join('\n  ')}`, {
    hint: '`rookery doctor` says more; a simulated cluster needs nothing: --provisioner virtual',
  });
}

function byPreference(a: ClusterWay, b: ClusterWay): number {
  return AUTO_DOCKER.indexOf(a.name) - AUTO_DOCKER.indexOf(b.name);
}

export async function availability(way: ClusterWay, home: Home): Promise<Availability> {
  return (await openWay(way, home)).probe();
}
