/** What kind prints, read for people: the step it is at, and what its failures mean. */
import { type KnownFailure, knownFailure, type Meaning } from '../docker-cluster/tool-output.ts';

/** The last step begun: kind prints ` • Preparing nodes 📦 ...` when one begins and ` ✓ …` when it is done. */
export function stepOf(output: string): string | undefined {
  const steps = [...output.matchAll(/^\s*[•✓✗]\s*(.+?)\s*(?:\.{3})?\s*$/gmu)];
  const last = steps.at(-1)?.[1];
  return last?.replace(/[^\p{L}\p{N}\p{P} ]/gu, '').trim();
}

const FAILURES: KnownFailure[] = [
  {
    reason: 'NetworkGone',
    says: /network kind not found/i,
    means: 'the Docker network `kind` was removed while nodes were being made',
    help: 'nothing needs to be done: kind makes the network again',
  },
  {
    reason: 'HostUnsupported',
    says: /could not find a log line that matches|too many open files/i,
    means: 'a node did not boot, mostly because inotify limits are too low or cgroups do not fit',
    help: 'sudo sysctl fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288',
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

export function meaningOf(output: string): Meaning {
  const known = knownFailure(output, FAILURES);
  if (known) return known;
  // The command line kind prints first is long and says little; what that command said is what matters.
  const error = /^Command Output: (.+)$/m.exec(output)?.[1] ?? /^ERROR: (.+)$/m.exec(output)?.[1];
  return { reason: 'KindFailed', means: error ?? 'kind failed', help: 'see its output' };
}
