/**
 * Connections to host clusters, one for each kubeconfig, kept while they are used. Whatever goes wrong there becomes a `RookeryError` that says what it
 * was about: the network, our rights, a quota.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import {
  ConnectionError,
  isConflict,
  isForbidden,
  isInvalid,
  isTransient,
  isUnauthorized,
  KubeError,
  kubeconfigConnection,
  type ObjectStore,
  type Place,
  RemoteStore,
} from '../../kube/index.ts';
import type { ClusterRef } from '../provisioner.ts';

/** What the registry finds about the host of a cluster. */
export interface HostAccess {
  kubeconfig?: string;
  /** Why there is no kubeconfig. */
  missing?: string;
  /** Why there is no host any more, and with it nothing of the cluster. */
  gone?: string;
  /** Why nothing shall be put there, though it can be reached. */
  unfit?: string;
}

const TIMEOUT_MS = 10_000;
const IDLE_MS = 600_000;

interface Open {
  store: RemoteStore;
  usedAt: number;
}

export class HostClusters {
  readonly #clock: Clock;
  readonly #open = new Map<string, Promise<Open>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async of(ref: Pick<ClusterRef<unknown>, 'access' | 'place'>): Promise<ObjectStore> {
    const access = (ref.access ?? {}) as HostAccess;
    if (!access.kubeconfig) {
      throw new RookeryError('host.missing', access.gone ?? access.missing ?? 'no kubeconfig of the host is known', {
        class: 'retryable',
        hint: 'the host cluster must exist and its kubeconfig be in the Secret that spec.host names',
      });
    }
    const place = ref.place ?? 'another machine';
    const key = createHash('sha256')
      .update(`${JSON.stringify(place)} ${access.kubeconfig}`)
      .digest('hex');
    this.#closeIdle(key);
    const opening = this.#open.get(key) ?? this.#connect(access.kubeconfig, place);
    this.#open.set(key, opening);
    opening.catch(() => this.#open.delete(key));
    const open = await opening;
    open.usedAt = this.#clock.now();
    return open.store;
  }

  async #connect(kubeconfig: string, place: Place): Promise<Open> {
    const connection = await kubeconfigConnection(kubeconfig, place).catch((error) => {
      throw hostError(error);
    });
    const store = new RemoteStore({ connection, clock: this.#clock, maxConnections: 16, timeoutMs: TIMEOUT_MS });
    return { store, usedAt: this.#clock.now() };
  }

  #closeIdle(except: string): void {
    const end = this.#clock.now() - IDLE_MS;
    for (const [key, opening] of this.#open) {
      if (key === except) continue;
      opening.then(
        (open) => {
          if (open.usedAt > end || !this.#open.delete(key)) return;
          void open.store.close();
        },
        () => {},
      );
    }
  }
}

/** What a host said no to, in our words. */
export function hostError(error: unknown): unknown {
  if (error instanceof RookeryError) {
    if (!error.code.startsWith('KUBECONFIG')) return error;
    const hint = error.hint ?? 'put a kubeconfig with its certificates and token inside into the Secret';
    return new RookeryError('host.kubeconfig', `of the host: ${error.message}`, { class: 'user', cause: error, hint });
  }
  if (!(error instanceof KubeError) && !(error instanceof ConnectionError)) return error;
  const { message } = error;
  const about = (code: string, text: string, hint: string) =>
    new RookeryError(code, text, { class: 'retryable', hint, cause: error });
  if (isUnauthorized(error)) {
    return about('host.unauthorized', `the host does not accept our credentials: ${message}`, 'renew its kubeconfig');
  }
  if (isForbidden(error)) {
    if (message.includes('being terminated')) return about('host.terminating', message, 'it is waited for');
    if (message.includes('exceeded quota')) return about('host.quota', message, 'raise the quota of that namespace');
    if (message.includes('attempting to grant')) {
      const hint = 'give the user of that kubeconfig those rights, or use one of an administrator';
      return about('host.roles', `our credentials may not grant what vcluster needs in its host: ${message}`, hint);
    }
    return about('host.forbidden', `our credentials are not enough: ${message}`, 'use those of an administrator');
  }
  if (isInvalid(error))
    return about('host.invalid', `the host does not accept an object: ${message}`, 'change the spec');
  if (isConflict(error)) return about('host.conflict', message, 'somebody else changed it at the same time');
  if (isTransient(error)) {
    return about('host.unreachable', `the host does not answer: ${message}`, 'start it, or correct its kubeconfig');
  }
  return about('host.failed', `the host refused: ${message}`, 'see the message');
}
