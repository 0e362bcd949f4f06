/** How a reconcile of the core begins: the finalizer stored before anything is made, the condition `Paused` said, a draft to write into. */
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../clock.ts';
import {
  ensureFinalizer,
  isPaused,
  type ObjectStore,
  PatchHelper,
  type ResourceRef,
  setPaused,
} from '../../kube/index.ts';

export interface BeginOptions {
  store: ObjectStore;
  resource: ResourceRef;
  found: KubeObject;
  cluster: KubeObject | undefined;
  /** Absent for what makes nothing outside. */
  finalizer?: string;
  clock: Clock;
  signal?: AbortSignal;
}

export interface Begun {
  object: KubeObject;
  helper: PatchHelper<KubeObject>;
  draft: KubeObject;
}

/** Undefined while it is paused: that has been said, and nothing else is to be done. */
export async function begin(options: BeginOptions): Promise<Begun | undefined> {
  const { store, resource, found, cluster, finalizer, clock, signal } = options;
  const isKept = finalizer !== undefined && !isPaused(found, cluster);
  const object = isKept ? await ensureFinalizer(store, resource, found, finalizer, signal) : found;
  const helper = new PatchHelper(store, resource, object);
  const draft = helper.draft();
  draft.status ??= {};
  if (!setPaused(draft, cluster, clock)) return { object, helper, draft };
  await helper.patch(draft, signal);
  return undefined;
}
