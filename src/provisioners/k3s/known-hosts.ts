/** Opens the machine of a cluster, and remembers which key it showed first: another one later is refused. One connection for each machine. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import type { Host } from '../../machines/host.ts';
import { SshHost } from '../../machines/ssh/ssh-host.ts';
import { privilegesOf } from '../../privileged/privileged.ts';
import type { Processes } from '../../tools/processes.ts';
import type { ClusterRef } from '../provisioner.ts';
import type { K3sSpec } from './config.ts';
import { SSH_KEY } from './ssh-key.ts';

export type OpenHost = (ref: ClusterRef<K3sSpec>) => Host;

export function knownHosts(processes: Processes, clock: Clock, folder: string): OpenHost {
  const privileged = privilegesOf(processes);
  let local: Host | undefined;
  const open = new Map<string, Host>();
  return ({ id, spec, access }) => {
    const { ssh } = spec.host;
    if (!ssh) {
      local ??= privileged.machine();
      return local;
    }
    const key = access?.[SSH_KEY];
    if (!key) {
      const { name, key: entry } = ssh.keySecretRef;
      throw new RookeryError('host.key-missing', `the Secret ${name} has no entry ${entry} with an SSH key`, {
        class: 'retryable',
        hint: `make it: kubectl create secret generic ${name} --type=kubernetes.io/ssh-auth --from-file=${entry}=<file>`,
      });
    }
    const file = join(folder, id, 'host-key');
    const digest = createHash('sha256').update(key).digest('hex');
    const name = `${id} ${ssh.user}@${ssh.address}:${ssh.port} ${ssh.hostKey} ${digest}`;
    const known = open.get(name);
    if (known) return known;
    for (const [other, host] of open) {
      if (!other.startsWith(`${id} `)) continue;
      host.close();
      open.delete(other);
    }
    const { address, port, user } = ssh;
    const onFirstKey = (fingerprint: string) => {
      mkdirSync(join(folder, id), { recursive: true, mode: 0o700 });
      writeFileSync(file, fingerprint, { mode: 0o600 });
    };
    const hostKey = ssh.hostKey ?? firstKey(file);
    const host = new SshHost({ address, port, user, key, hostKey }, { clock, onFirstKey });
    open.set(name, host);
    return host;
  };
}

function firstKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
