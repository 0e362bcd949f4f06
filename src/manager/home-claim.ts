/**
 * Replicas that take over from each other must share one home folder: on another machine, with an empty one, a leader would find nothing of the clusters
 * there are and make them anew. So the lease remembers the folder its clusters live in, and a leader with another one gives up.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { leases, type ObjectKey, type ObjectStore } from '../kube/index.ts';
import { createPrivate } from '../vault/files.ts';

const ANNOTATION = 'rookery.dev/home';

/** Called by the leader before its work begins. */
export async function claimHome(
  store: ObjectStore,
  lease: Required<ObjectKey>,
  folder: string,
  random: Random,
): Promise<void> {
  const id = await identityOf(folder, random);
  const { metadata } = await store.get(leases, lease);
  const claimed = metadata.annotations?.[ANNOTATION];
  if (claimed === id) return;
  if (claimed !== undefined) {
    const where = `${lease.namespace}/${lease.name}`;
    throw new RookeryError(
      'manager.other-home',
      `the clusters of the lease ${where} live in another folder than ${folder}`,
      {
        class: 'user',
        hint: `run on that folder (--home), or give up what it holds: kubectl annotate lease -n ${lease.namespace} ${lease.name} ${ANNOTATION}-`,
      },
    );
  }
  await store.patch(leases, lease, { type: 'merge', body: { metadata: { annotations: { [ANNOTATION]: id } } } });
}

/** Made once, kept with what it stands for. */
async function identityOf(folder: string, random: Random): Promise<string> {
  const file = join(folder, 'home-id');
  await createPrivate(file, `${random.uuid()}\n`);
  return (await readFile(file, 'utf8')).trim();
}
