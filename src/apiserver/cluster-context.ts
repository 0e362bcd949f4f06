/** What the request road knows about the cluster it works on. */
import type { Clock, Random } from '../clock.ts';
import type { AdmissionPlugin } from './admission/admission.ts';
import type { RbacAuthorizer } from './auth/rbac.ts';
import type { Registry } from './kinds/registry.ts';
import type { Store } from './store/store.ts';

export interface ClusterContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly authorizer: RbacAuthorizer;
  readonly admission: readonly AdmissionPlugin[];
  readonly clock: Clock;
  readonly random: Random;
}
