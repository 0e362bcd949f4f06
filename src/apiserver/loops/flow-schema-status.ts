/** Writes into the status of FlowSchemas whether the priority level they name exists. */
import { rfc3339 } from '../../clock.ts';
import { LOOPBACK } from '../auth/identity.ts';
import { FLOW_SCHEMAS, FLOWCONTROL, LEVELS } from '../fairness/flow-schemas.ts';
import type { Stored } from '../store/store.ts';
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
  // Most are right already, as those of a fresh cluster are.
  const look = (stored: Stored) => {
    if (newStatus(context, stored)) queue.add(stored.key.name);
  };
  const all = async () => {
    for await (const page of pages(store, FLOW_SCHEMAS)) page.forEach(look);
  };
  const stops = [
    store.watch({ resource: FLOW_SCHEMAS, afterRv: store.rv }, ({ type, current }) => {
      if (type !== 'DELETED') look(current);
    }),
    store.watch({ resource: LEVELS, afterRv: store.rv }, ({ type }) => {
      // What a level says does not matter here, only that it is there.
      if (type !== 'MODIFIED') all().catch((error) => warn(context, 'reading flow schemas failed', error));
    }),
    scan(context, FLOW_SCHEMAS, look),
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

/** Undefined where it is right as it is. */
function newStatus({ store, clock }: LoopContext, stored: Stored): { conditions: Condition[] } | undefined {
  const schema = stored.object();
  const level = schema.spec?.priorityLevelConfiguration?.name ?? '';
  const isThere = store.get({ resource: LEVELS, namespace: '', name: level }) !== undefined;
  const condition = dangling(level, isThere);
  const conditions = (schema.status?.conditions ?? []) as Condition[];
  const known = conditions.find(({ type }) => type === condition.type);
  if (known?.status === condition.status) return undefined;
  const others = conditions.filter((one) => one !== known);
  return { conditions: [...others, { ...condition, lastTransitionTime: rfc3339(clock.now()) }] };
}

async function update(context: LoopContext, name: string): Promise<void> {
  const stored = context.store.get({ resource: FLOW_SCHEMAS, namespace: '', name });
  const status = stored && newStatus(context, stored);
  if (!status) return;
  const resource = builtin(context, FLOWCONTROL, 'v1', 'flowschemas');
  const body = { metadata: { resourceVersion: String(stored.rv) }, status };
  const options = { identity: LOOPBACK, fieldManager: MANAGER, subresource: 'status' };
  await context.operations.patch(resource, '', name, { type: 'merge', body }, options);
}

/** In the words of kube-apiserver. */
export function dangling(level: string, isThere: boolean) {
  const what = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return isThere
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${what} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${what} but there is no such object` };
}
