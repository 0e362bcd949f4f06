/** Waiting for what a cluster shall become, seen through the object that asks for it. */
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { STALLED } from '../controllers/progress-status.ts';
import { STORE_DECISION_ANNOTATION } from '../controllers/provisioned-cluster-scope.ts';
import { readExplanation } from '../diagnosis/explanation.ts';
import { RookeryError } from '../errors.ts';
import { getCondition, isConditionTrue, type ObjectStore, waitFor } from '../kube/index.ts';
import type { ClusterWay } from '../provisioners/registry.ts';
import { missing } from './cluster-lookup.ts';
import type { ProgressView } from './progress-view.ts';
import { hasStoreTrouble } from './store-trouble.ts';

export interface Wait {
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Until the Cluster says that it is available. */
export async function waitForCluster(
  store: ObjectStore,
  key: { namespace: string; name: string },
  { timeoutMs, signal }: Wait,
): Promise<KubeObject> {
  let last: KubeObject | undefined;
  const isAvailable = (cluster: KubeObject | undefined) => {
    if (!cluster && last) throw missing(key.namespace, key.name);
    last = cluster;
    return cluster !== undefined && isConditionTrue(cluster, 'Available');
  };
  try {
    const what = `cluster ${key.name} to be available`;
    return (await waitFor(store, clusters, key, isAvailable, { timeoutMs, signal, what })) as KubeObject;
  } catch (error) {
    throw late(error, key.name, last && getCondition(last, 'Available')?.message);
  }
}

/** Until `wanted` holds for the object of the way; ends at once when only a person can help. */
export async function waitForProvider(
  store: ObjectStore,
  way: ClusterWay,
  key: { namespace: string; name: string },
  wanted: (provider: KubeObject) => boolean,
  { timeoutMs, signal, view, what }: Wait & { view: ProgressView; what: string },
): Promise<KubeObject> {
  let last: KubeObject | undefined;
  const check = (provider: KubeObject | undefined) => {
    if (!provider && last) throw missing(key.namespace, key.name);
    last = provider;
    if (!provider) return false;
    view.see(provider);
    if (wanted(provider)) return true;
    if (!isDecided(provider)) stopWhenStalled(provider);
    return false;
  };
  let isDone = false;
  try {
    const found = await waitFor(store, way.resource, key, check, { timeoutMs, signal, what });
    isDone = true;
    return found as KubeObject;
  } catch (error) {
    throw late(error, key.name, last && getCondition(last, 'Ready')?.message);
  } finally {
    view.end(isDone);
  }
}

/** Ready, and for what its spec says now. */
export function isReadyNow(provider: KubeObject): boolean {
  const { generation = 0 } = provider.metadata;
  return isConditionTrue(provider, 'Ready') && (provider.status?.observedGeneration ?? generation) >= generation;
}

/** A person has decided about the lost store that its conditions still tell of. */
function isDecided(provider: KubeObject): boolean {
  const isPending = provider.metadata.annotations?.[STORE_DECISION_ANNOTATION] !== undefined;
  return isPending && hasStoreTrouble(provider);
}

/** Nothing comes of waiting for these: somebody has to install or start something. */
const HELPLESS = ['ToolMissing', 'DockerUnreachable'];

function stopWhenStalled(provider: KubeObject): void {
  const stalled = getCondition(provider, STALLED);
  const ready = getCondition(provider, 'Ready');
  const condition = stalled?.status === 'True' ? stalled : HELPLESS.includes(ready?.reason ?? '') ? ready : undefined;
  if (!condition) return;
  const { what, next } = readExplanation(condition.message);
  const name = provider.metadata.name;
  throw new RookeryError('cluster.refused', what, {
    class: 'user',
    hint: `${next ?? `see \`rookery why ${name}\``}; the request stands, remove it with: rookery cluster delete ${name}`,
  });
}

/** A wait that took too long says what it was waiting for. */
function late(error: unknown, name: string, message: string | undefined): unknown {
  if (!(error instanceof RookeryError) || error.code !== 'WAIT_TIMEOUT') return error;
  const text = message ? `${error.message}\n${message}` : error.message;
  return new RookeryError(error.code, text, {
    class: 'retryable',
    hint: `it goes on as long as a control plane runs; see \`rookery why ${name}\``,
    cause: error,
  });
}
