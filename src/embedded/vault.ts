/**
 * The keys of one home folder, exchanged while the server runs: new ones sign from the first moment, old ones are
 * accepted until they are retired. A rotation is written down before its first step, and every step can be done again,
 * so a process that is killed anywhere goes on at the next start.
 */
import { setImmediate as turn } from 'node:timers/promises';
import {
  ApiError,
  type Cluster,
  type Clusters,
  generateServiceAccountKey,
  ROOT,
  reseal,
  type Visited,
} from '../apiserver/index.ts';
import { type Clock, rfc3339 } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { LinkKeys } from '../vault/link-keys.ts';
import { type Authority, bundleOf, retireAuthorities, rotateAuthority } from './authority.ts';
import { carriersOfOld, earlierBundles, replaceBundles } from './carried-bundles.ts';
import { clientCertificates } from './client-certificates.ts';
import type { Home } from './home.ts';
import type { Pki } from './pki.ts';
import {
  KEY_KINDS,
  type KeyKind,
  type Rotation,
  readRotation,
  removeRotation,
  writeRotation,
} from './rotation-file.ts';
import {
  type ClusterKeys,
  clusterText,
  type KeyFacts,
  type KeyStatus,
  keyStatuses,
  type Revocation,
  readClusterKeys,
  revocations,
} from './vault-status.ts';

export interface VaultParts {
  home: Home;
  clock: Clock;
  log: Logger;
  keyring: Keyring;
  linkKeys(): Promise<LinkKeys>;
  clusters: Clusters;
  /** The server's CA as it is now. */
  pki(): Pki;
  /** Serves with another CA from now on. */
  serveWith(authority: Authority): Promise<void>;
  /** Ends connections that show a client certificate. */
  endConnectionsOf(serial: string): number;
  /** Names of links that were signed before a moment and are valid. */
  linksBefore(moment: number): Promise<string[]>;
}

export interface VaultStatus {
  /** Absent when none is under way. */
  rotation?: { kinds: KeyKind[]; startedAt: string; clustersDone: number; clusters: number; failed: string[] };
  keys: KeyStatus[];
  revokedCertificates: Revocation[];
}

const RETRY_MS = 5000;

export class Vault {
  readonly #parts: VaultParts;
  #progress = { done: 0, of: 0, failed: [] as string[] };
  #running: Promise<void> | undefined;
  #cancelRetry = () => {};
  #isClosed = false;

  constructor(parts: VaultParts) {
    this.#parts = parts;
  }

  /** Goes on with what a killed process has left. */
  async resume(): Promise<void> {
    const rotation = await readRotation(this.#parts.home);
    if (rotation) this.#run(rotation);
  }

  /** Returns when it is written down; the work goes on in the background. */
  async rotate(kinds: readonly KeyKind[]): Promise<void> {
    const { home, clock } = this.#parts;
    const rotation = { kinds: KEY_KINDS.filter((kind) => kinds.includes(kind)), startedAt: clock.now() };
    if (!(await writeRotation(home, rotation))) throw underWay();
    this.#run(rotation);
  }

  async status(): Promise<VaultStatus> {
    const rotation = await readRotation(this.#parts.home);
    const facts = await this.#facts();
    const { done, of, failed } = this.#progress;
    const { kinds = [], startedAt = 0 } = rotation ?? {};
    const progress = { kinds, startedAt: rfc3339(startedAt), clustersDone: done, clusters: of, failed };
    return {
      ...(rotation ? { rotation: progress } : {}),
      keys: keyStatuses(facts),
      revokedCertificates: revocations(facts),
    };
  }

  /** Ends the overlap: old keys of these kinds are accepted no longer. Refuses while something needs one. */
  async retire(kinds: readonly KeyKind[], force = false): Promise<KeyStatus[]> {
    if (await readRotation(this.#parts.home)) throw underWay();
    const facts = await this.#facts();
    const old = keyStatuses(facts).filter(({ kind, state }) => state === 'old' && kinds.includes(kind));
    const needed = old.filter(({ neededBy }) => neededBy.length > 0);
    // Data that nothing else opens is never given up, even with --force.
    if (needed.length > 0 && (!force || needed.some(({ kind }) => kind === 'data'))) throw stillNeeded(needed);
    const has = (kind: KeyKind) => old.some((each) => each.kind === kind);
    if (has('ca')) await this.#retireCa();
    if (has('tokens') || has('clients')) {
      for (const name of this.#names()) await this.#parts.clusters.visit(name, (visited) => retireIn(visited, has));
    }
    if (has('links')) await facts.linkKeys.retire();
    if (has('data')) for (const { number } of facts.keyring.list.slice(1)) await facts.keyring.retire(number);
    return old;
  }

  /** A client certificate of a cluster counts no longer; connections that show it end. False when that was so before. */
  async revokeCertificate(cluster: string, serial: string): Promise<boolean> {
    const { clusters, endConnectionsOf } = this.#parts;
    if (!clusters.has(cluster)) {
      throw new RookeryError('cluster.missing', `there is no cluster ${JSON.stringify(cluster)}`, { class: 'user' });
    }
    let isNew = false;
    await clusters.visit(cluster, async ({ credentials, awake, snapshot }) => {
      if (snapshot !== undefined) return;
      isNew = credentials.revoke(serial);
      awake?.authenticator.forget();
    });
    endConnectionsOf(serial);
    return isNew;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry();
    await this.#running;
  }

  #run(rotation: Rotation): void {
    this.#running = this.#work(rotation).catch((error) => {
      if (this.#isClosed) return;
      this.#parts.log.warn('the rotation of keys goes on later', { error: String(error) });
      this.#cancelRetry = this.#parts.clock.after(RETRY_MS, () => this.#run(rotation));
    });
  }

  async #work({ kinds, startedAt }: Rotation): Promise<void> {
    const { home, clock, keyring, clusters, pki } = this.#parts;
    const has = (kind: KeyKind) => kinds.includes(kind);
    if (has('links')) await (await this.#parts.linkKeys()).rotate(startedAt);
    if (has('data') && (keyring.list[0]?.madeAt ?? 0) < startedAt) await keyring.rotate();
    if (has('ca')) {
      const { authority } = pki();
      const isDone = (authority.madeAt ?? 0) >= startedAt;
      if (!isDone) await this.#parts.serveWith(await rotateAuthority(home.pki('ca.pem'), authority, clock));
      const next = pki().authority;
      await replaceBundles(home, await this.#root(), earlierBundles(next), bundleOf(next));
    }
    const names = this.#names();
    this.#progress = { done: 0, of: names.length, failed: [] };
    for (const name of names) {
      if (this.#isClosed) return;
      await clusters
        .visit(name, (visited) => this.#renew(name, visited, { kinds, startedAt }))
        .catch((error) => {
          this.#progress.failed.push(`${clusterText(name)}: ${(error as Error).message}`);
        });
      this.#progress.done++;
      await turn();
    }
    // The others have their new keys; these are tried again.
    if (this.#progress.failed.length > 0) throw new Error(this.#progress.failed.join('; '));
    await removeRotation(home);
  }

  async #renew(name: string, visited: Visited, { kinds, startedAt }: Rotation): Promise<void> {
    const { store, credentials, sealer, awake, snapshot } = visited;
    const { clock, pki } = this.#parts;
    // What a snapshot brings back are objects; the credentials are those of the cluster.
    if (snapshot === undefined) {
      if (kinds.includes('tokens')) credentials.tokenKeys.rotate(startedAt, generateServiceAccountKey);
      if (kinds.includes('clients'))
        credentials.clientCas.rotate(startedAt, () => clientCertificates(clock).createCa(name));
    }
    if (awake) await awake.keysChanged(pki().bundle);
    else if (sealer && kinds.includes('data')) await reseal(store, sealer, credentials);
  }

  async #retireCa(): Promise<void> {
    const { home, pki, clusters, serveWith } = this.#parts;
    const { authority } = pki();
    const before = [...earlierBundles(authority), bundleOf(authority)];
    const next = await retireAuthorities(home.pki('ca.pem'), authority);
    await serveWith(next);
    await replaceBundles(home, await this.#root(), before, bundleOf(next));
    for (const name of this.#names()) {
      await clusters.visit(name, async ({ awake }) => awake?.keysChanged(bundleOf(next)));
    }
  }

  async #facts(): Promise<KeyFacts> {
    const { home, clusters, keyring, pki, clock } = this.#parts;
    const linkKeys = await this.#parts.linkKeys();
    const found: ClusterKeys[] = [];
    const unreadable: string[] = [];
    for (const name of this.#names()) {
      try {
        found.push(...(await readClusterKeys(clusters, name)));
      } catch (error) {
        unreadable.push(`${clusterText(name)}, which cannot be read: ${(error as Error).message}`);
      }
      await turn();
    }
    const { authority } = pki();
    const isOverlapping = authority.retiring.length > 0;
    return {
      keyring,
      linkKeys,
      authority,
      clusters: found,
      unreadable,
      carriers: isOverlapping ? await carriersOfOld(home, await this.#root(), authority) : [],
      links: linkKeys.all.length > 1 ? await this.#parts.linksBefore(linkKeys.all[0]?.madeAt ?? 0) : [],
      now: clock.now(),
    };
  }

  async #root(): Promise<Cluster> {
    return await this.#parts.clusters.ensure(ROOT);
  }

  #names(): string[] {
    return [ROOT, ...this.#parts.clusters.list()];
  }
}

/** What people are refused, as the API server says it. */
export function asApiError(error: unknown): unknown {
  if (!(error instanceof RookeryError)) return error;
  const message = error.hint ? `${error.message}. ${error.hint}` : error.message;
  return error.class === 'retryable'
    ? new ApiError(409, 'Conflict', message)
    : new ApiError(
        error.class === 'user' ? 400 : 500,
        error.class === 'user' ? 'BadRequest' : 'InternalError',
        message,
      );
}

async function retireIn({ credentials, awake, snapshot }: Visited, has: (kind: KeyKind) => boolean): Promise<void> {
  if (snapshot !== undefined) return;
  if (has('tokens')) credentials.tokenKeys.retire();
  if (has('clients')) credentials.clientCas.retire();
  awake?.authenticator.forget();
}

function underWay(): RookeryError {
  return new RookeryError('vault.rotating', 'a rotation of keys is under way', {
    class: 'retryable',
    hint: '`rookery vault status` shows how far it is',
  });
}

function stillNeeded(keys: KeyStatus[]): RookeryError {
  const lines = keys.map(
    ({ kind, name, neededBy }) => `${name} (${kind}) is needed by ${neededBy.slice(0, 5).join('; ')}`,
  );
  const isData = keys.some(({ kind }) => kind === 'data');
  return new RookeryError('vault.needed', `old keys are still in use: ${lines.join('; ')}`, {
    class: 'retryable',
    hint: isData
      ? 'Run `rookery vault rotate data` again; without these keys the data could not be read any more'
      : 'Wait until then, or use --force: what needs them is refused from that moment on',
  });
}
