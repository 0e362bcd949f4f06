/** Writes into the status of FlowSchemas whether the priority level they name exists. */
import { rfc3339 } from '../../clock.ts';
import { LOOPBACK } from '../auth/identity.ts';
import { FLOW_SCHEMAS, FLOWCONTROL, LEVELS } from '../fairness/flow-schemas.ts';
import { builtin, hasReason, type Loop, type LoopContext, pages, scan, warn } from './loop.ts';
import { WorkQueue } from './work-queue.ts';

const MANAGER = 'api-priority-and-fairness-config-consumer-v1';

export const flowSchemaStatus: Loop = (context) => {
  const { store, clock } = context;
  const queue = new WorkQueue({
    clock,
    work: (name: string) => update(context, name),
    onError: (name, error) => {
      if (!hasReason(error, 'Conflict', 'NotFound'))
        warn(context, `status of flow schema ${name} was not written`, error);
    },
  });
  const all = async () => {
    for await (const page of pages(store, FLOW_SCHEMAS)) for (const { key } of page) queue.add(key.name);
  };
  const stops = [
    store.watch({ resource: FLOW_SCHEMAS, afterRv: store.rv }, ({ type, current }) => {
      if (type !== 'DELETED') queue.add(current.key.name);
    }),
    store.watch({ resource: LEVELS, afterRv: store.rv }, ({ type }) => {
      // What a level says does not matter here, only that it is there.
      if (type !== 'MODIFIED') all().catch((error) => warn(context, 'reading flow schemas failed', error));
    }),
    scan(context, FLOW_SCHEMAS, (stored) => queue.add(stored.key.name)),
  ];
  return () => {
    for (const stop of stops) stop();
    queue.stop();
  };
};

interface Condition {
  type: string;
  status?: string;
  lastTransitionTime?: string;
}

async function update(context: LoopContext, name: string): Promise<void> {
  const { store, clock, operations } = context;
  const schema = store.get({ resource: FLOW_SCHEMAS, namespace: '', name })?.object();
  if (!schema) return;
  const level = schema.spec?.priorityLevelConfiguration?.name ?? '';
  const isThere = store.get({ resource: LEVELS, namespace: '', name: level }) !== undefined;
  const condition = dangling(level, isThere);
  const conditions = (schema.status?.conditions ?? []) as Condition[];
  const known = conditions.find(({ type }) => type === condition.type);
  if (known?.status === condition.status) return;
  const others = conditions.filter((one) => one !== known);
  const status = { conditions: [...others, { ...condition, lastTransitionTime: rfc3339(clock.now()) }] };
  const resource = builtin(context, FLOWCONTROL, 'v1', 'flowschemas');
  const body = { metadata: { resourceVersion: schema.metadata.resourceVersion }, status };
  const options = { identity: LOOPBACK, fieldManager: MANAGER, subresource: 'status' };
  await operations.patch(resource, '', name, { type: 'merge', body }, options);
}

/** In the words of kube-apiserver. */
export function dangling(level: string, isThere: boolean) {
  const what = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return isThere
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${what} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${what} but there is no such object` };
}
