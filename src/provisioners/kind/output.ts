/** What kind prints, read for people: the step it is at, and what its failures mean. */

/** The last step begun: kind prints ` • Preparing nodes 📦 ...` when one begins and ` ✓ …` when it is done. */
export function stepOf(output: string): string | undefined {
  const steps = [...output.matchAll(/^\s*[•✓✗]\s*(.+?)\s*(?:\.{3})?\s*$/gmu)];
  const last = steps.at(-1)?.[1];
  return last?.replace(/[^\p{L}\p{N}\p{P} ]/gu, '').trim();
}

export function lastLines(output: string, count = 8): string[] {
  return output
    .split('\n')
    .map((line) => line.trimEnd())
    .filter(Boolean)
    .slice(-count);
}

interface Meaning {
  reason: string;
  says: RegExp;
  means: string;
  help: string;
}

const MEANINGS: Meaning[] = [
  {
    reason: 'PortTaken',
    says: /port is already allocated|address already in use/i,
    means: 'a port of the host that the cluster asks for is taken',
    help: 'free the port, or choose another in extraPortMappings or networking.apiServerPort (0 means any free one)',
  },
  {
    reason: 'ImageUnavailable',
    says: /failed to pull image|pull access denied|manifest unknown|not found: manifest|no such image/i,
    means: 'the node image is not on this machine and could not be fetched',
    help: 'fetch or load it (docker pull, docker load), or choose another version',
  },
  {
    reason: 'NetworkPoolExhausted',
    says: /non-overlapping IPv4 address pool|failed to ensure docker network/i,
    means: 'Docker could not make the network',
    help: 'remove networks nobody uses: docker network prune',
  },
  {
    reason: 'NetworkGone',
    says: /network kind not found/i,
    means: 'the Docker network `kind` was removed while nodes were being made',
    help: 'nothing needs to be done: kind makes the network again',
  },
  {
    reason: 'DiskFull',
    says: /no space left on device/i,
    means: 'the disk is full',
    help: 'free some space: docker system df, docker system prune',
  },
  {
    reason: 'HostUnsupported',
    says: /could not find a log line that matches|too many open files/i,
    means: 'a node did not boot, mostly because inotify limits are too low or cgroups do not fit',
    help: 'sudo sysctl fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288',
  },
  {
    reason: 'DockerUnreachable',
    says: /cannot connect to the docker daemon|error during connect/i,
    means: 'Docker went away',
    help: 'start Docker again',
  },
  {
    reason: 'NameTaken',
    says: /node\(s\) already exist for a cluster with the name/i,
    means: 'somebody made a kind cluster of that name meanwhile',
    help: 'delete that cluster, or choose another clusterName',
  },
  {
    reason: 'KubeadmFailed',
    says: /failed to (init node with kubeadm|join node with kubeadm)/i,
    means: 'kubeadm failed in a node',
    help: 'check the patches and whether this kind fits the image; the whole output is in the journal',
  },
];

export function meaningOf(output: string): Omit<Meaning, 'says'> {
  const known = MEANINGS.find((meaning) => meaning.says.test(output));
  if (known) return known;
  // The command line kind prints first is long and says little; what that command said is what matters.
  const error = /^Command Output: (.+)$/m.exec(output)?.[1] ?? /^ERROR: (.+)$/m.exec(output)?.[1];
  return { reason: 'KindFailed', means: error ?? 'kind failed', help: 'see its output' };
}
