/**
 * The server's own control loops, one file each: what kube-controller-manager and kube-apiserver do behind the API so
 * that a cluster behaves like one. Every loop follows the store by watching, rebuilds its state from the store when it
 * starts, does nothing while nothing changes, and gives the event loop back between slices of work.
 */
import type { Clock, Random } from '../../clock.ts';
import type { Logger } from '../../telemetry/log.ts';
import { type Authorizer, LOOPBACK } from '../auth/identity.ts';
import type { ServiceAccountTokens } from '../auth/service-account-tokens.ts';
import type { Registry } from '../kinds/registry.ts';
import type { Operations, WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { ApiError } from '../status.ts';
import type { Store, Stored } from '../store/store.ts';
import type { CertificateSigner } from './certificate-signing.ts';

export interface LoopContext {
  store: Store;
  registry: Registry;
  operations: Operations;
  clock: Clock;
  random: Random;
  /** PEM of the CA that clients verify this server with. */
  rootCa: string;
  tokens: ServiceAccountTokens;
  /** Decides which certificate requests are approved by themselves. */
  authorizer?: Authorizer;
  /** Signs certificate requests; without it they stay as they are. */
  signer?: CertificateSigner;
  /** Default: failures become process warnings. */
  log?: Pick<Logger, 'warn'>;
}

/** Starts a loop; the returned function ends it. Work under way may still finish, nothing new begins. */
export type Loop = (context: LoopContext) => () => void;

/** Owner of the fields that loops set, as it shows in managedFields. */
export const MANAGER = 'kube-controller-manager';
/** How loops write. */
export const WRITE: WriteOptions = { identity: LOOPBACK, fieldManager: MANAGER };

const PAGE = 500;

/** Every object of a resource, page by page; other work gets its turn between pages. */
export async function* pages(store: Store, resource: string, namespace?: string): AsyncGenerator<Stored[]> {
  let after: { namespace: string; name: string } | undefined;
  for (;;) {
    const page = store.list({ resource, namespace, after, limit: PAGE });
    if (page.items.length) yield page.items;
    after = page.items.at(-1)?.key;
    if (!page.more || !after) return;
    await turn();
  }
}

/** Reads what is there when a loop starts, on later turns of the event loop. The returned function ends it early. */
export function scan(context: LoopContext, resource: string, each: (stored: Stored) => void): () => void {
  let stopped = false;
  const read = async () => {
    await turn();
    if (stopped) return;
    for await (const page of pages(context.store, resource)) {
      if (stopped) return;
      for (const stored of page) each(stored);
    }
  };
  read().catch((error) => {
    if (!stopped) warn(context, `reading ${resource} failed`, error);
  });
  return () => {
    stopped = true;
  };
}

/** Lets everything else that waits have the event loop first. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The resource a loop cannot do without. */
export function builtin(context: LoopContext, group: string, version: string, plural: string): Resource {
  const resource = context.registry.find(group, version, plural);
  if (!resource) throw new Error(`${plural} of ${group || 'core'}/${version} are not served`);
  return resource;
}

export function hasReason(error: unknown, ...reasons: string[]): boolean {
  return error instanceof ApiError && reasons.includes(error.reason);
}

export function warn(context: LoopContext, message: string, error: unknown): void {
  const detail = error instanceof Error ? error.message : String(error);
  if (context.log) context.log.warn(message, { error: detail });
  else process.emitWarning(`${message}: ${detail}`, 'ApiServerLoopWarning');
}
