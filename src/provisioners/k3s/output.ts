/** What k3s says in its log, read for people: the last lines that matter, and what a k3s that does not stay up means by them. */
import { redactText } from '../../telemetry/redact.ts';

export function lastLines(log: string, count = 6): string[] {
  return redactText(log)
    .split('\n')
    .map((line) => line.replace(/^time="[^"]*" level=(\w+) msg="?/, '$1: ').trimEnd())
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
    says: /bind: address already in use|port .* already in use/i,
    means: 'a port that k3s needs on the host is taken',
    help: 'free it, or choose another `port`; k3s also needs 6444, 10248-10250, 10256-10259 and 10010',
  },
  {
    reason: 'CgroupUnsupported',
    says: /cgroup v1|failCgroupV1|fail-cgroupv1/i,
    means: 'the host has cgroup v1, which Kubernetes 1.35 and later refuse',
    help: 'boot it with cgroup v2, choose 1.34, or add k3sArgs --kubelet-arg=fail-cgroupv1=false',
  },
  {
    reason: 'CgroupUnsupported',
    says: /failed to find (cpu|memory|pids|cpuset) cgroup/i,
    means: 'the host has a cgroup controller switched off',
    help: 'switch it on at boot: cgroup_enable=memory cgroup_memory=1 cgroup_enable=cpuset',
  },
  {
    reason: 'DiskFull',
    says: /no space left on device/i,
    means: 'the disk of the host is full',
    help: 'free some space on it',
  },
  {
    reason: 'TokenChanged',
    says: /bootstrap data already found and encrypted with different token/i,
    means: 'the data folder was made with another token',
    help: 'delete the cluster and make it again',
  },
  {
    reason: 'FlagUnknown',
    says: /flag provided but not defined|unknown flag|invalid (argument|value)/i,
    means: 'k3s does not know a flag, or not with that value',
    help: 'correct k3sArgs for this version of k3s',
  },
  {
    reason: 'OverlayUnsupported',
    says: /overlayfs.* not supported|failed to mount overlay/i,
    means: 'the file system of the data folder cannot carry overlayfs',
    help: 'choose a dataDir on another disk, or add k3sArgs --snapshotter=native',
  },
];

export function meaningOf(log: string): Omit<Meaning, 'says'> | undefined {
  // The last word counts: what went wrong before was got over.
  const lines = log
    .split('\n')
    .filter((line) => /level=(fatal|error)|\b[EF]\d{4} |^Error|^Incorrect Usage|flag /i.test(line));
  return MEANINGS.find((meaning) => lines.slice(-12).some((line) => meaning.says.test(line)));
}
