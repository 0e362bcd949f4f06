/**
 * The end of a Machine, in Cluster API's order: pre-drain hooks, drain, volumes, pre-terminate hooks, infrastructure,
 * bootstrap object, Node. Each step says in the condition `Deleting` what it waits for.
 */
import { rfc3339 } from '../../../clock.ts';
import { ignoreNotFound, isDeleting, isNotFound } from '../../../kube/index.ts';
import { SEE_LOGS } from '../conditions.ts';
import type { Found } from '../externals.ts';
import { ANNOTATION, HOOK } from '../names.ts';
import { nodeResource } from '../workload/workload-connection.ts';
import { attachedVolumes } from './drain/attached-volumes.ts';
import { drainNode, isUnreachable } from './drain/drain.ts';
import { connectionOf, lookAgain, type MachineScope } from './machine-scope.ts';
import { mayDeleteNode } from './node-deletion-rule.ts';

type StartTime =
  | 'nodeDrainStartTime'
  | 'waitForNodeVolumeDetachStartTime'
  | 'waitForPreDrainHookStartTime'
  | 'waitForPreTerminateHookStartTime';

/** Quick at first, as most drains are over soon; never slower than upstream's. */
const AGAIN = { firstMs: 500, lastMs: 20_000 };
const DELETE_NODE_AGAIN_MS = 2_000;
const NODE_DELETION_TIMEOUT_SECONDS = 10;

/** True once nothing is left. */
export async function reconcileDelete(scope: MachineScope): Promise<boolean> {
  scope.deleting = { reason: 'InternalError', message: SEE_LOGS };
  const withNode = await mayDeleteNode(scope);
  if (withNode) {
    if (waitsForHooks(scope, HOOK.preDrain, 'PreDrain')) return false;
    if (mayWaitFor(scope, ANNOTATION.excludeDraining, 'nodeDrainStartTime', 'nodeDrainTimeoutSeconds')) {
      if (await isDraining(scope)) return false;
    }
    if (
      mayWaitFor(
        scope,
        ANNOTATION.excludeVolumeDetach,
        'waitForNodeVolumeDetachStartTime',
        'nodeVolumeDetachTimeoutSeconds',
      )
    ) {
      if (await hasVolumes(scope)) return false;
    }
  }
  if (waitsForHooks(scope, HOOK.preTerminate, 'PreTerminate')) return false;
  if (!(await isGone(scope, scope.infrastructure, scope.machine.spec.infrastructureRef, 'Infrastructure')))
    return false;
  const { configRef } = scope.machine.spec.bootstrap ?? {};
  if (configRef && !(await isGone(scope, scope.bootstrap, configRef, 'Bootstrap'))) return false;
  if (withNode && !(await isNodeGone(scope))) return false;
  scope.deleting = { reason: 'DeletionCompleted', message: 'Deletion completed' };
  return true;
}

function waitsForHooks(scope: MachineScope, prefix: string, what: 'PreDrain' | 'PreTerminate'): boolean {
  const hooks = Object.keys(scope.machine.metadata.annotations ?? {}).filter((key) => key.startsWith(prefix));
  if (hooks.length === 0) return false;
  started(scope, `waitFor${what}HookStartTime`);
  const name = what === 'PreDrain' ? 'pre-drain' : 'pre-terminate';
  const message = `Waiting for ${name} hooks to succeed (hooks: ${hooks.sort().join(',')})`;
  scope.deleting = { reason: `WaitingFor${what}Hook`, message };
  return true;
}

/** When a step of the deletion began; noted the first time. */
function started({ draft, core }: MachineScope, field: StartTime): number {
  draft.status.deletion ??= {};
  draft.status.deletion[field] ??= rfc3339(core.clock.now());
  return Date.parse(draft.status.deletion[field]);
}

/** Not where the user forbids it, where the host is going already, where it came past that point, or after a time. */
function mayWaitFor(scope: MachineScope, exclusion: string, since: StartTime, timeout: string): boolean {
  const { machine, draft, infrastructure, core } = scope;
  if (machine.metadata.annotations?.[exclusion] !== undefined) return false;
  const { deletion } = draft.status;
  if (deletion?.waitForPreTerminateHookStartTime) return false;
  if (!infrastructure.object || isDeleting(infrastructure.object)) return false;
  const seconds = machine.spec.deletion?.[timeout] ?? 0;
  if (seconds <= 0 || !deletion?.[since]) return true;
  return core.clock.now() < Date.parse(deletion[since]) + seconds * 1000;
}

/** How long until a step is tried again; not longer than its time limit. */
function again(scope: MachineScope, since: number, timeout: string): void {
  const elapsed = scope.core.clock.now() - since;
  const seconds = scope.machine.spec.deletion?.[timeout] ?? 0;
  const left = seconds > 0 ? Math.max(since + seconds * 1000 - scope.core.clock.now(), 1) : Number.POSITIVE_INFINITY;
  lookAgain(scope, Math.min(left, AGAIN.lastMs, Math.max(AGAIN.firstMs, elapsed / 4)));
}

async function isDraining(scope: MachineScope): Promise<boolean> {
  const { core, signal } = scope;
  const startedAt = started(scope, 'nodeDrainStartTime');
  const begin = `Drain not completed yet (started at ${rfc3339(startedAt)}):`;
  scope.deleting = { reason: 'DrainingNode', message: begin };
  again(scope, startedAt, 'nodeDrainTimeoutSeconds');
  const api = connectionOf(scope)?.api;
  if (!api) {
    scope.deleting.message = `${begin}\n* Waiting for a connection to the workload cluster`;
    return true;
  }
  const node = await nodeOf(scope, api);
  if (!node) return false;
  const left = await drainNode({ api, node, clock: core.clock, startedAt, signal });
  if (left === undefined) return false;
  scope.deleting.message = left;
  return true;
}

async function hasVolumes(scope: MachineScope): Promise<boolean> {
  const { signal } = scope;
  const since = started(scope, 'waitForNodeVolumeDetachStartTime');
  const begin = `Waiting for Node volumes to be detached (started at ${rfc3339(since)})`;
  scope.deleting = { reason: 'WaitingForVolumeDetach', message: begin };
  again(scope, since, 'nodeVolumeDetachTimeoutSeconds');
  const api = connectionOf(scope)?.api;
  if (!api) return true;
  const node = await nodeOf(scope, api);
  if (!node || isUnreachable(node)) return false;
  const left = await attachedVolumes(api, node, signal);
  if (!left) return false;
  scope.deleting.message = [begin, ...left].join('\n');
  return true;
}

function nodeOf({ draft, signal }: MachineScope, api: NonNullable<ReturnType<typeof connectionOf>>['api']) {
  return api.get(nodeResource, { name: draft.status.nodeRef.name }, { signal }).catch(ignoreNotFound);
}

async function isGone(
  scope: MachineScope,
  { object, missing }: Found,
  { kind }: { kind: string },
  what: 'Infrastructure' | 'Bootstrap',
): Promise<boolean> {
  if (!object) return missing;
  if (!isDeleting(object)) await scope.core.externals.delete(object, scope.signal);
  scope.deleting = { reason: `WaitingFor${what}Deletion`, message: `Waiting for ${kind} to be deleted` };
  return false;
}

async function isNodeGone(scope: MachineScope): Promise<boolean> {
  const { draft, machine, core, signal } = scope;
  const name = draft.status.nodeRef.name as string;
  let problem = 'there is no connection to the workload cluster';
  try {
    const api = connectionOf(scope)?.api;
    if (api) {
      await api.delete(nodeResource, { name }, { signal });
      return true;
    }
  } catch (error) {
    if (isNotFound(error)) return true;
    problem = (error as Error).message;
  }
  const seconds = machine.spec.deletion?.nodeDeletionTimeoutSeconds ?? NODE_DELETION_TIMEOUT_SECONDS;
  const since = Date.parse(machine.metadata.deletionTimestamp ?? '');
  // The host is gone: a Node that cannot be deleted is not worth waiting for ever, unless told so.
  if (seconds > 0 && core.clock.now() >= since + seconds * 1000) return true;
  scope.deleting = { reason: 'DeletingNode', message: `Node ${name} could not be deleted: ${problem}` };
  lookAgain(scope, DELETE_NODE_AGAIN_MS);
  return false;
}
