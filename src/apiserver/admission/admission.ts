/**
 * Admission: what a write must pass besides the rules of its own kind. A plug-in may change the object (`mutate`),
 * refuse it (`validate`), or act inside the write's transaction (`commit`: quota, addresses), where it sees every
 * earlier write and nothing else can come between. Plug-ins run in order; webhooks and policies join the same list.
 *
 * The order of a write: defaults → mutate (→ mutate again) → the kind's prepare and validate → validate → transaction
 * { commit → put }.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Identity } from '../auth/identity.ts';
import type { RequestScope } from '../request-scope.ts';
import type { Resource } from '../resource.ts';
import { type ApiError, forbidden, type StatusCause } from '../status.ts';
import type { Store, Transaction } from '../store/store.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

export interface AdmissionAttributes {
  operation: Operation;
  resource: Resource;
  /** Empty for the object itself. */
  subresource: string;
  /** The kind of `object` where that is not the resource's own: Scale, Binding, Eviction, … */
  kind?: { group: string; version: string; kind: string };
  /** In the stored version; absent for DELETE. Plug-ins change it in place in `mutate` and `commit`. */
  object?: KubeObject;
  /** What is stored now; absent for CREATE. Read-only. */
  old?: KubeObject;
  /** Empty for cluster-scoped resources. */
  namespace: string;
  name: string;
  identity: Identity;
  dryRun: boolean;
  store: Pick<Store, 'get' | 'list' | 'count'>;
  /** Milliseconds since the epoch. */
  now: number;
  /** Collects texts for `Warning:` headers. */
  warnings?: string[];
  /** Waits on the server's clock: for objects a loop is about to make (the default ServiceAccount). */
  wait?(ms: number): Promise<void>;
  /** CreateOptions, UpdateOptions or DeleteOptions of the request, for those who are told of it. */
  options?(): Record<string, unknown> | undefined;
  /** Until then the request has to be done, in milliseconds since the epoch. */
  deadline?: number;
  /** The request it is a part of; none for the server's own writes. */
  scope?: RequestScope;
  /** Another form of this request was already shown to webhooks and policies (the Scale, the Binding). */
  isInner?: boolean;
  /** 1 when everything that mutates looks a second time. */
  round?: 0 | 1;
  /** Set by a plug-in that changed the object and wants a second round. */
  again?: boolean;
  /** What webhooks and policies want an audit log to say of the request. */
  annotations?: Record<string, string>;
}

export interface AdmissionPlugin {
  readonly name: string;
  /** Made by users of the cluster (webhooks, policies): asked once for each request, in the form the request has. */
  readonly external?: boolean;
  /** Which writes concern it; asked before each phase, so it must be cheap. */
  handles(attributes: AdmissionAttributes): boolean;
  mutate?(attributes: AdmissionAttributes): void | Promise<void>;
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
  commit?(tx: Transaction, attributes: AdmissionAttributes): void;
}

/** Runs the plug-ins of one phase in order; the first refusal (an ApiError) ends it. */
export async function admit(
  phase: 'mutate' | 'validate',
  attributes: AdmissionAttributes,
  plugins: readonly AdmissionPlugin[],
): Promise<void> {
  for (const plugin of plugins) {
    if (!plugin[phase] || (attributes.isInner && plugin.external) || !plugin.handles(attributes)) continue;
    const pending = plugin[phase](attributes);
    if (pending) await pending;
  }
}

/** All that may change the object; once more when a webhook did, since what comes before it has not seen that. */
export async function admitMutation(
  attributes: AdmissionAttributes,
  plugins: readonly AdmissionPlugin[],
): Promise<void> {
  attributes.round = 0;
  await admit('mutate', attributes, plugins);
  if (!attributes.again) return;
  attributes.round = 1;
  await admit('mutate', attributes, plugins);
}

/** The phase inside the transaction, just before the object is put (or deleted). Synchronous, like the transaction. */
export function commit(tx: Transaction, attributes: AdmissionAttributes, plugins: readonly AdmissionPlugin[]): void {
  for (const plugin of plugins) {
    if (plugin.commit && plugin.handles(attributes)) plugin.commit(tx, attributes);
  }
}

/** 403 in the words of admission: names the object, also when its name is still to be generated. */
export function refuse(attributes: AdmissionAttributes, message: string, causes?: StatusCause[]): ApiError {
  const meta = attributes.object?.metadata;
  const name = attributes.name || meta?.name || meta?.generateName || 'Unknown';
  return forbidden({ group: attributes.resource.group, resource: attributes.resource.plural, name }, message, causes);
}

/** True for the object itself (no subresource) of one resource. */
export function isResource(attributes: AdmissionAttributes, group: string, plural: string): boolean {
  return attributes.subresource === '' && attributes.resource.group === group && attributes.resource.plural === plural;
}

/** Every stored object of a small resource; nothing is parsed when there is none. */
export function listObjects(
  store: AdmissionAttributes['store'],
  resource: string,
  namespace?: string,
): readonly KubeObject[] {
  if (store.count(resource, namespace) === 0) return [];
  const found: KubeObject[] = [];
  let after: { namespace: string; name: string } | undefined;
  for (;;) {
    const page = store.list({ resource, namespace, after, limit: 500 });
    for (const stored of page.items) found.push(stored.object());
    const last = page.items.at(-1);
    if (!page.more || !last) return found;
    after = { namespace: last.key.namespace, name: last.key.name };
  }
}
