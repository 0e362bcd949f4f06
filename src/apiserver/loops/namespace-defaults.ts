/**
 * What every namespace has from its first moment: the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`.
 * Made again when deleted, put right when changed.
 */
import type { KubeObject } from '../../api/object.ts';
import { builtin, hasReason, type Loop, type LoopContext, scan, WRITE, warn } from './loop.ts';
import { WorkQueue } from './work-queue.ts';

const ACCOUNT = 'default';
const CA = 'kube-root-ca.crt';
const CA_DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
  'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

export const namespaceDefaults: Loop = (context) => {
  const { store, clock } = context;
  const queue = new WorkQueue({
    clock,
    concurrency: 10,
    work: (namespace) => ensure(context, namespace),
    onError: (namespace, error) => warn(context, `the defaults of namespace ${namespace} could not be made`, error),
  });
  const watch = (resource: string, name?: string) =>
    store.watch({ resource, name, afterRv: store.rv }, ({ type, current: { key } }) => {
      if (name) queue.add(key.namespace);
      else if (type !== 'DELETED') queue.add(key.name);
    });
  const stops = [
    watch('/namespaces'),
    watch('/serviceaccounts', ACCOUNT),
    watch('/configmaps', CA),
    scan(context, '/namespaces', ({ key }) => queue.add(key.name)),
  ];
  return () => {
    for (const stop of stops) stop();
    queue.stop();
  };
};

/** The two objects, without a namespace, as a template of new clusters holds them too. */
export function namespaceDefaultObjects(rootCa: string): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT } },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: CA, annotations: { 'kubernetes.io/description': CA_DESCRIPTION } },
      data: { 'ca.crt': rootCa },
    },
  ];
}

async function ensure(context: LoopContext, namespace: string): Promise<void> {
  const { store, operations, rootCa } = context;
  const home = store.get({ resource: '/namespaces', namespace: '', name: namespace });
  if (!home || home.object().metadata.deletionTimestamp) return;
  const account = store.get({ resource: '/serviceaccounts', namespace, name: ACCOUNT });
  const bundle = store.get({ resource: '/configmaps', namespace, name: CA })?.object();
  const [wantedAccount, wantedBundle] = namespaceDefaultObjects(rootCa) as [KubeObject, KubeObject];
  const configMaps = builtin(context, '', 'v1', 'configmaps');
  try {
    if (!account)
      await operations.create(builtin(context, '', 'v1', 'serviceaccounts'), namespace, wantedAccount, WRITE);
    if (!bundle) await operations.create(configMaps, namespace, wantedBundle, WRITE);
    else if (!isRight(bundle, rootCa)) {
      const { metadata, data } = wantedBundle;
      const body = { metadata: { annotations: metadata.annotations }, data: { ...dropped(bundle.data), ...data } };
      await operations.patch(configMaps, namespace, CA, { type: 'merge', body }, WRITE);
    }
  } catch (error) {
    // Lost a race with someone who made it, or with the end of the namespace: either brings another event.
    if (!hasReason(error, 'AlreadyExists', 'NotFound', 'Forbidden')) throw error;
  }
}

function isRight({ data = {} }: KubeObject, rootCa: string): boolean {
  return data['ca.crt'] === rootCa && Object.keys(data).length === 1;
}

/** A merge patch removes a key by null. */
function dropped(data: Record<string, string> = {}): Record<string, null> {
  return Object.fromEntries(Object.keys(data).map((key) => [key, null]));
}
