/** What k3d prints, read for people: the step it is at, and what its failures mean. */
import { type KnownFailure, knownFailure, type Meaning } from '../docker-cluster/tool-output.ts';

/** `time="…" level=info msg="Starting node 'k3d-dev-server-0'"`: the last thing it set out to do. */
export function stepOf(output: string): string | undefined {
  return said(output, 'info').at(-1);
}

const FAILURES: KnownFailure[] = [
  {
    reason: 'NameTaken',
    says: /a cluster with that name already exists/i,
    means: 'somebody made a k3d cluster of that name meanwhile',
    help: 'delete that cluster, or choose another clusterName',
  },
  {
    reason: 'SubnetTaken',
    says: /pool overlaps with other one on this address space/i,
    means: 'the subnet asked for is in use by another Docker network',
    help: 'choose another subnet, or `auto`',
  },
  {
    reason: 'RegistryMissing',
    says: /failed to find registry node/i,
    means: 'a registry that the spec names does not exist',
    help: 'make it (k3d registry create), or take it out of registries',
  },
  {
    reason: 'SpecRefused',
    says: /schema validation failed|cluster configuration validation|failed to (transform|filter nodes)|node ?filters?|invalid subnet/i,
    means: 'k3d refuses what the spec asks for',
    help: 'see its output, and change the spec',
  },
  {
    reason: 'HostUnsupported',
    says: /host gateway ip is missing/i,
    means: 'k3d cannot find out under which address nodes reach this machine',
    help: 'set K3D_FIX_DNS=0 for Rookery, if nodes need no names of this machine',
  },
  {
    reason: 'TimedOut',
    says: /context deadline exceeded/i,
    means: 'a node did not come up in time',
    help: 'see whether the machine has processor, memory and disk left: docker stats, df',
  },
  {
    reason: 'NodeFailed',
    says: /failed to get ready|stopped returning log lines/i,
    means: 'a node did not come up: k3s ended in it',
    help: 'check k3sArgs and volumes, and whether cgroups fit; the whole output is in the journal',
  },
];

export function meaningOf(output: string): Meaning {
  const known = knownFailure(output, FAILURES);
  if (known) return known;
  // Its last words are only that it gave up; what came first is why.
  const [why] = [...said(output, 'error'), ...said(output, 'fatal')];
  return { reason: 'K3dFailed', means: why ?? 'k3d failed', help: 'see its output' };
}

function said(output: string, level: string): string[] {
  return [...output.matchAll(/level=(\w+) msg=("(?:[^"\\]|\\.)*"|\S+)/g)]
    .filter(([, found]) => found === level)
    .map(([, , text = '']) => (text.startsWith('"') ? unquoted(text) : text));
}

/** Go quotes as JSON does, but for characters that JSON does not know; those are left as they are. */
function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text.slice(1, -1);
  }
}
