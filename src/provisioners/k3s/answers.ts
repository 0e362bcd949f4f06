/** Answers of the k3s provisioner that say no: why a machine cannot be used, and what helps. */
import { RookeryError } from '../../errors.ts';
import type { ClusterRef, Progress } from '../provisioner.ts';
import type { K3sSpec } from './config.ts';
import type { MachineState } from './machine-state.ts';

const RECHECK_MS = 15_000;
const RETRY_MS = 10_000;

/** Why this machine cannot have this cluster; undefined when it can. */
export function refusalOf(ref: ClusterRef<K3sSpec>, identity: string, state: MachineState): Progress | undefined {
  if (state.os !== 'Linux') {
    return refused(
      'HostUnsupported',
      `${identity} runs ${state.os || 'an unknown system'}; k3s needs Linux`,
      'choose a Linux machine',
    );
  }
  if (state.uid !== 0) {
    const next = ref.spec.host.ssh
      ? 'log in as root, or allow that user sudo without a password'
      : 'run Rookery as root, or name a machine in host.ssh';
    return refused('NotRoot', `k3s needs root on ${identity}, and this is user ${state.uid}`, next);
  }
  if (state.owner && state.owner.id !== ref.id)
    return refused('NameTaken', takenText(identity, state), 'choose another machine, or delete that cluster');
  if (!state.owner && state.foreign.length > 0) {
    const next = 'choose a machine that is no node of another cluster, or remove that one first';
    return refused('HostInUse', foreignText(identity, state), next);
  }
  if (ref.spec.supervision === 'systemd' && !state.hasSystemd) {
    return refused('NoSystemd', `${identity} does not run systemd`, 'choose supervision auto or process');
  }
  return undefined;
}

export function takenText(identity: string, { owner }: MachineState): string {
  return `${identity} has a k3s of another object of Rookery (${owner?.name}, uid ${owner?.id})`;
}

export function foreignText(identity: string, { foreign }: MachineState): string {
  return `${identity} is in use: ${foreign.join('; ')}`;
}

function refused(reason: string, message: string, next: string): Progress {
  return { phase: 'refused', reason, message, next, lookAgainMs: RECHECK_MS };
}

/** Trouble with the machine is an answer: what it is, what helps, when it is tried again. */
export async function answered(work: () => Promise<Progress>): Promise<Progress> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    const next = `${error.hint ? `${error.hint}; ` : ''}tried again every ${RETRY_MS / 1000} s`;
    return { phase: 'blocked', reason: reasonOf(error), message: error.message, next, lookAgainMs: RETRY_MS };
  }
}

/** `host.key-changed` is `HostKeyChanged`. */
export function reasonOf(error: RookeryError): string {
  return error.code.replace(/(^|[.-])([a-z0-9])/g, (_all, _dot, letter: string) => letter.toUpperCase());
}
