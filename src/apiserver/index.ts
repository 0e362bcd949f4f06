/**
 * *Being* a Kubernetes API on SQLite; usable alone as `rookery/apiserver`, an envtest for Node.
 *
 *   Store         objects of one cluster in one file: versions, history, watches   store/
 *   Registry      what is served, as data: built-in tables and CRDs                kinds/ · crd/
 *   Operations    the road of a request below HTTP                                 handlers/ · admission/ · apply/ · patch/
 *   Cluster(s)    one awake cluster; all of them, asleep by default                cluster.ts · clusters.ts
 *   Disk          whether there is room to write, and the reserve for deletes      disk/
 *   ApiServer     HTTPS in front of them                                           server/
 *   loops         what a control plane does by itself: GC, namespaces, …           loops/
 */
export { type AdmissionAttributes, type AdmissionPlugin, refuse } from './admission/admission.ts';
export { ANONYMOUS, type Authorizer, type Identity, LOOPBACK, MASTERS } from './auth/identity.ts';
export { generateServiceAccountKey } from './auth/service-account-key.ts';
export { issueToken } from './auth/token-request.ts';
export { putMissing } from './bootstrap.ts';
export { Cluster, type ClusterOptions } from './cluster.ts';
export { Clusters, type ClustersOptions, ROOT, type Visited } from './clusters.ts';
export type { ClientCertificates } from './credentials.ts';
export { ClusterRoom } from './disk/cluster-room.ts';
export { Disk } from './disk/disk.ts';
export { Reserve } from './disk/reserve.ts';
export { parseFieldSelector } from './field-selector.ts';
export type { Generation } from './generations.ts';
export { bind } from './handlers/binding.ts';
export { inOrder } from './handlers/conversion.ts';
export { evict } from './handlers/eviction.ts';
export { readScale, writeScale } from './handlers/scale.ts';
export { seenChange } from './handlers/selection.ts';
export { served, viewed } from './handlers/stored-form.ts';
export { clone } from './json.ts';
export type { Operations } from './operations.ts';
export { reseal } from './reseal.ts';
export type { Resource } from './resource.ts';
export { readList, waitFor } from './server/list.ts';
export type { OwnPaths } from './server/path-requests.ts';
export { ANY_SERVER_NAME, serverNameOf } from './server/route.ts';
export { ApiServer, type ServerOptions } from './server/server.ts';
export {
  ApiError,
  badRequest,
  expired,
  type FieldError,
  field,
  invalid,
  methodNotAllowed,
  unknownPath,
} from './status.ts';
export { checkFile } from './store/format.ts';
export { raiseRevisions } from './store/raise-revisions.ts';
export { openStore } from './store/sqlite-store.ts';
export { type ChangeEvent, CompactedError, type Sealer, type Store } from './store/store.ts';
export type { Usage } from './store/usage.ts';
export { isStoreTrouble } from './store-health.ts';
export { VERSION } from './version.ts';
