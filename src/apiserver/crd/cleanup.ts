/** The end of a CRD: every object it defined is deleted the normal way, finalizers and all, before the CRD itself goes. */
import type { Identity } from '../auth/identity.ts';
import type { Operations } from '../operations.ts';
import { ApiError } from '../status.ts';
import type { Crd } from './crd.ts';
import { customResource, schemasOf } from './resources.ts';

/** Asks for the deletion of all objects of a CRD. Objects with finalizers stay until those are done. */
export async function removeObjects(operations: Operations, identity: Identity, crd: Crd): Promise<void> {
  const version = crd.spec.versions.find((v) => v.storage) ?? crd.spec.versions[0];
  if (!version) return;
  const resource = customResource(crd, version, schemasOf(crd));
  // Not a request of anybody's: webhooks and policies have no say, as upstream.
  const options = { identity, isInner: true };
  for (const object of operations.listAll(resource)) {
    const { namespace = '', name = '', deletionTimestamp } = object.metadata;
    if (deletionTimestamp) continue;
    try {
      await operations.delete(resource, namespace, name, { propagationPolicy: 'Background' }, options);
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }
  }
}
