/** `pods/binding`: the scheduler's word that this pod runs on that node. */
import type { KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import type { Operations, WriteOptions } from '../operations.ts';
import type { Resource } from '../resource.ts';
import { badRequest, conflict, field, invalid } from '../status.ts';

export async function bind(
  operations: Operations,
  pods: Resource,
  namespace: string,
  name: string,
  sent: KubeObject,
  options: WriteOptions,
  now: number,
): Promise<void> {
  if (sent.metadata?.name !== name) throw badRequest('name in URL does not match name in Binding object');
  const typed: KubeObject = { ...sent, apiVersion: 'v1', kind: 'Binding' };
  const operand = { operation: 'CREATE' as const, resource: pods, subresource: 'binding', namespace, name };
  const binding = await operations.admit({ ...operand, object: typed }, options);
  const node = binding.target?.name;
  if (!node) throw invalid('', 'Binding', name, [field.required('target.name')]);
  const pod = operations.get(pods, namespace, name);
  const subject = { group: '', resource: 'pods/binding', name };
  if (pod.metadata.deletionTimestamp) {
    throw conflict(subject, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  if (pod.spec?.nodeName) {
    throw conflict(subject, `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  }
  const metadata = { resourceVersion: pod.metadata.resourceVersion, annotations: binding.metadata?.annotations ?? {} };
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: rfc3339(now) };
  const others = (pod.status?.conditions ?? []).filter(
    (condition: { type: string }) => condition.type !== 'PodScheduled',
  );
  const body = { metadata, spec: { nodeName: node }, status: { conditions: [...others, scheduled] } };
  await operations.patch(
    pods,
    namespace,
    name,
    { type: 'merge', body },
    {
      ...options,
      subresource: 'binding',
      isInner: true,
    },
  );
}
