/** Node objects whose container is gone. Nobody else deletes them, and a node of that name could not join again. */
import {
  ignoreNotFound,
  isTransient,
  KubeError,
  kubeconfigConnection,
  RemoteStore,
  type ResourceRef,
} from '../../kube/index.ts';

const nodes: ResourceRef = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const TIMEOUT_MS = 5000;

/** Names of the nodes that were deleted; none while the cluster does not answer. */
export type ForgetNodes = (
  kubeconfig: string,
  isGone: (node: string) => boolean,
  signal?: AbortSignal,
) => Promise<string[]>;

export const forgetNodes: ForgetNodes = async (kubeconfig, isGone, signal) => {
  const connection = await kubeconfigConnection(kubeconfig, 'this machine');
  const store = new RemoteStore({ connection, timeoutMs: TIMEOUT_MS });
  try {
    const { items } = await store.list(nodes, { signal });
    const gone = items.map((node) => node.metadata.name ?? '').filter(isGone);
    for (const name of gone) await store.delete(nodes, { name }, { signal }).catch(ignoreNotFound);
    return gone;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof KubeError || isTransient(error)) return [];
    throw error;
  } finally {
    await store.close();
  }
};
