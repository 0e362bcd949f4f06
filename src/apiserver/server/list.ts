/** GET on a collection: one consistent state, paged, in the shape the client wants. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListMeta } from '../../api/object.ts';
import type { ClusterContext } from '../cluster-context.ts';
import { prepare } from '../handlers/conversion.ts';
import { scopeOf, selects } from '../handlers/selection.ts';
import type { Resource } from '../resource.ts';
import { badRequest, expired, timeout } from '../status.ts';
import { CompactedError, type ListPage, type Stored } from '../store/store.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';
import type { ListOptions } from './list-options.ts';

/** Rows read between two looks at the event loop. */
const SLICE = 250;
/** How long a list waits for a version that does not exist yet, as upstream. */
const FUTURE_WAIT_MS = 3000;

export interface Listed {
  rv: number;
  items: Stored[];
  meta: ListMeta;
}

/** Reads everything the options select, a slice at a time. */
export async function readList(
  context: ClusterContext,
  resource: Resource,
  namespace: string,
  options: ListOptions,
): Promise<Listed> {
  const { store } = context;
  const token = options.continue ? decodeContinue(options.continue) : undefined;
  if (token && options.resourceVersion) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const exact = options.match === 'Exact' || (options.match === undefined && options.limit !== undefined);
  if (options.resourceVersion) await waitFor(context, options.resourceVersion);
  let rv = token && token.rv >= 0 ? token.rv : store.rv;
  if (!token && options.resourceVersion && exact) rv = options.resourceVersion;
  const scope = scopeOf(namespace, options);
  const items: Stored[] = [];
  let after = token?.after;
  let more = true;
  try {
    if (options.fields.name !== undefined && scope !== undefined && !token && rv === store.rv) {
      const one = store.get({ resource: resource.storage, namespace: scope, name: options.fields.name });
      if (one) await prepare(resource, [one]);
      if (one && selects(resource, options, one)) items.push(one);
      more = false;
    }
    while (more) {
      const page: ListPage = store.list({
        resource: resource.storage,
        namespace: scope,
        after,
        limit: SLICE,
        atRv: rv,
      });
      more = page.more;
      await prepare(resource, page.items);
      for (const stored of page.items) {
        after = { namespace: stored.key.namespace, name: stored.key.name };
        if (selects(resource, options, stored)) items.push(stored);
        if (options.limit !== undefined && items.length === options.limit) break;
      }
      if (options.limit !== undefined && items.length === options.limit) {
        more =
          more || after?.name !== page.items.at(-1)?.key.name || after?.namespace !== page.items.at(-1)?.key.namespace;
        break;
      }
      if (more) await nextTurn();
    }
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    throw token
      ? expired(
          'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
          encodeContinue({ ...token, rv: -1 }),
        )
      : expired(`The resourceVersion for the provided list is too old.`);
  }
  const meta: ListMeta = { resourceVersion: String(rv) };
  if (more && after) {
    const selective = options.labels.length > 0 || options.fields.terms.length > 0;
    const before = token ? token.left : store.count(resource.storage, scope);
    const left = selective || before === undefined ? undefined : Math.max(1, before - items.length);
    meta.continue = encodeContinue({ rv, after, left });
    if (left !== undefined) meta.remainingItemCount = left;
  }
  return { rv, items, meta };
}

/** Waits for a version that has not been reached yet; 504 when it does not come. */
export async function waitFor(context: ClusterContext, rv: number): Promise<void> {
  const { store, clock } = context;
  if (rv <= store.rv) return;
  await new Promise<void>((resolve, reject) => {
    const stop = store.watch({ afterRv: store.rv }, (event) => {
      if (event.rv < rv) return;
      stop();
      cancel();
      resolve();
    });
    const cancel = clock.after(FUTURE_WAIT_MS, () => {
      stop();
      reject(
        timeout(`Timeout: Too large resource version: ${rv}, current: ${store.rv}`, 1, [
          { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
        ]),
      );
    });
  });
}
