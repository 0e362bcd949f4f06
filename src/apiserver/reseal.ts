/** Brings all that is sealed in one store to its newest key, a few rows in each turn of the event loop, and forgets the older keys. */
import { setImmediate as turn } from 'node:timers/promises';
import type { ClusterCredentials } from './credentials.ts';
import type { RenewableSealer, ResealCursor, Store } from './store/store.ts';

/** Broken off anywhere, it is simply done again: rows tell which key they are sealed with. */
export async function reseal(
  store: Store,
  sealer: RenewableSealer,
  credentials: Pick<ClusterCredentials, 'reseal'>,
): Promise<void> {
  sealer.renew();
  credentials.reseal();
  const isCurrent = (sealed: Buffer) => sealer.isCurrent(sealed);
  let at: ResealCursor | undefined;
  do {
    at = await store.reseal(isCurrent, at);
    await turn();
  } while (at);
  sealer.forgetOld();
}
