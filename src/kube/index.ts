/**
 * Talking to any Kubernetes API, and controllers on top: the nouns of controller-runtime.
 *
 *   ObjectStore      get, list, watch, create, update, patch, apply, delete        store.ts · remote-store.ts
 *   ListWatch        the objects of a resource as a stream that never breaks       list-watch.ts
 *   Informer(s)      a cache of them with indexes and handlers, shared             informer.ts · informers.ts
 *   WorkQueue        keys that need work, fairly, one worker each                  work-queue.ts
 *   Reconciler       makes the world match one object                             reconciler.ts
 *   Controller       watches → queue → reconciler                                  controller.ts
 *   Manager          starts and stops all of that, as leader                       manager.ts · leader-election.ts
 *   and what reconcilers write with: PatchHelper, conditions, finalizers, owner references, events, wait.
 *
 * Promises: level-triggered (a missed event is never a missed change), every wait can be aborted, time and randomness
 * are passed in. It knows no kind of its own and nothing of the embedded API server.
 */
export { type ApplyManifestsOptions, applyManifests, objectsOf } from './apply-manifests.ts';
export { type BackoffOptions, backoffDelay } from './backoff.ts';
export {
  type ConditionInput,
  type ConditionStatus,
  getCondition,
  getConditions,
  isConditionTrue,
  removeCondition,
  type SummaryOptions,
  setCondition,
  summarize,
} from './conditions.ts';
export type { Connection } from './connection.ts';
export { Controller, type ControllerEnvironment, type ControllerOptions, type Watch } from './controller.ts';
export { EventRecorder, type EventRecorderOptions, type EventType, events } from './events.ts';
export { exceptStatus } from './filters.ts';
export { ensureFinalizer, hasFinalizer, isDeleting, removeFinalizer } from './finalizers.ts';
export type { HttpClientOptions } from './http-client.ts';
export {
  byNamespace,
  byOwner,
  type Indexer,
  Informer,
  type InformerHandler,
  type InformerOptions,
} from './informer.ts';
export { Informers, type InformersOptions } from './informers.ts';
export { interceptStore, type StoreCall, type StoreHooks } from './intercept-store.ts';
export {
  ConnectionError,
  ignoreNotFound,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isResourceVersionTooLarge,
  isTooManyRequests,
  isTransient,
  isUnauthorized,
  KubeError,
  type KubeStatus,
  type StatusCause,
  type StatusDetails,
  WatchStreamError,
} from './kube-error.ts';
export { inClusterConnection, type KubeconfigSource, loadKubeconfig } from './kubeconfig.ts';
export { harmlessKubeconfig, kubeconfigConnection, type Place } from './kubeconfig-data.ts';
export { type LeaderElectionOptions, LeaderElector, leases } from './leader-election.ts';
export { listAll } from './list-all.ts';
export { ListWatch, type ListWatchEvent, type ListWatchOptions } from './list-watch.ts';
export { Manager, type ManagerOptions, type Runnable } from './manager.ts';
export { createMergePatch } from './merge-patch.ts';
export {
  controllerOf,
  isControlledBy,
  isOwnedBy,
  ownerReference,
  withController,
  withOwner,
  withoutOwner,
} from './owner-references.ts';
export { PatchHelper } from './patch-helper.ts';
export { isPaused, PAUSED_ANNOTATION, setPaused } from './paused.ts';
export {
  isTerminal,
  type ReconcileContext,
  type Reconciler,
  type Requeue,
  type Result,
  requeueAfter,
  TerminalError,
} from './reconciler.ts';
export { RemoteStore } from './remote-store.ts';
export {
  type ApplyOptions,
  apiVersionOf,
  type DeleteOptions,
  type GetOptions,
  type JsonPatchOperation,
  keyOf,
  keyText,
  type ListOptions,
  type ObjectKey,
  type ObjectStore,
  type Patch,
  parseKey,
  type ResourceRef,
  type Selection,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './store.ts';
export { type WaitOptions, waitFor, waitForCondition, waitForGone } from './wait.ts';
export { WorkQueue, type WorkQueueOptions } from './work-queue.ts';
