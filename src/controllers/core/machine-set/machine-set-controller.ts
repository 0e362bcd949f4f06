/** `MachineSet`: keeps a number of equal Machines, each made with its bootstrap and infrastructure objects. */
import { matchesLabels, selectorFromObject } from '../../../api/label-selector.ts';
import type { KubeObject } from '../../../api/object.ts';
import { clusters, machineDeployments, machineSets, machines } from '../../../api/resources.ts';
import {
  type ControllerOptions,
  controllerOf,
  exceptStatus,
  ignoreNotFound,
  isDeleting,
  keyOf,
  requeueAfter,
  TerminalError,
  withOwner,
} from '../../../kube/index.ts';
import { Applied } from '../applied.ts';
import { begin } from '../begin.ts';
import { ofCluster } from '../caches.ts';
import { type Core, clusterOf, runPhases } from '../core.ts';
import { ANNOTATION, FINALIZER, LABEL } from '../names.ts';
import { nextJudgement } from '../pool-conditions.ts';
import type { Reference } from '../provider-kinds.ts';
import { ownedTemplate } from '../templates.ts';
import { setMachineSetStatus } from './machine-set-conditions.ts';
import { syncReplicas } from './machine-set-replicas.ts';
import type { MachineSetScope } from './machine-set-scope.ts';
import { syncMachines } from './machine-sync.ts';
import { findMachines } from './machines-of-set.ts';
import { remediate } from './remediation.ts';

export function machineSetController(core: Core): ControllerOptions {
  const { store, caches } = core;
  const applied = new Applied(store);
  return {
    name: 'machine-set',
    resource: machineSets,
    filter: exceptStatus,
    owns: [machines],
    watches: [
      {
        // One without a master may be ours to take in.
        resource: machines,
        filter: (machine) => !controllerOf(machine),
        map: (machine) => caches.machineSets.list(machine.metadata.namespace).filter(selects(machine)).map(keyOf),
      },
      {
        resource: clusters,
        filter: exceptStatus,
        map: (cluster) => ofCluster(caches.machineSets, cluster).map(keyOf),
      },
      {
        resource: machineDeployments,
        filter: exceptStatus,
        map: ({ metadata }) => caches.machineSets.byIndex('owner', metadata.uid ?? '').map(keyOf),
      },
    ],
    async reconcile(key, { signal, clock }) {
      const found = await store.get(machineSets, key, { signal }).catch(ignoreNotFound);
      if (!found) return;
      const cluster = await clusterOf(core, found, signal);
      if (!cluster && !isDeleting(found)) return;
      const begun = await begin({
        store,
        resource: machineSets,
        found,
        cluster,
        finalizer: FINALIZER.machineSet,
        clock,
        signal,
      });
      if (!begun) return;
      const { object: set, helper, draft } = begun;
      const scope: MachineSetScope = {
        ...{ core, applied, set, draft, signal },
        cluster: cluster as KubeObject,
        deployment: await deploymentOf(core, set, signal),
        missing: [],
        preflight: [],
      };
      const failure = await runPhases([
        () => setOwnerAndLabels(scope),
        () => (cluster ? ownTemplates(scope) : undefined),
        () => findMachines(scope),
        ...(isDeleting(set)
          ? [() => deleteMachines(scope)]
          : [
              () => remediate(scope),
              () => syncMachines(scope),
              () => (scope.missing.length === 0 ? syncReplicas(scope) : undefined),
            ]),
      ]);
      setMachineSetStatus(scope);
      if (!failure) draft.status.observedGeneration = set.metadata.generation;
      await helper.patch(draft, signal);
      if (failure) throw failure;
      const again = nextJudgement(scope.machines ?? [], clock);
      return again === undefined ? undefined : requeueAfter(again);
    },
  };
}

function selects(machine: KubeObject) {
  return (set: KubeObject) => {
    const selector = selectorFromObject(set.spec?.selector) ?? [];
    return selector.length > 0 && matchesLabels(selector, machine.metadata.labels);
  };
}

async function deploymentOf(core: Core, set: KubeObject, signal: AbortSignal): Promise<KubeObject | undefined> {
  const name = set.metadata.labels?.[LABEL.deploymentName];
  if (!name) return undefined;
  const key = { namespace: set.metadata.namespace, name };
  return core.store.get(machineDeployments, key, { signal }).catch(ignoreNotFound);
}

/** Also what upstream's webhooks do, for API servers that have none of ours. */
function setOwnerAndLabels({ draft, cluster, set }: MachineSetScope): void {
  const { clusterName } = draft.spec;
  const label = { [LABEL.clusterName]: clusterName };
  draft.metadata.labels = { ...draft.metadata.labels, ...label };
  draft.spec.selector = {
    ...draft.spec.selector,
    matchLabels: { ...draft.spec.selector?.matchLabels, ...label },
  };
  const { metadata } = draft.spec.template;
  draft.spec.template = {
    ...draft.spec.template,
    metadata: { ...metadata, labels: { ...metadata?.labels, ...label } },
  };
  if (!cluster || isDeleting(set) || draft.metadata.labels[LABEL.deploymentName]) return;
  if (controllerOf(draft)) return;
  const { apiVersion, kind } = cluster;
  const { name = '', uid = '' } = cluster.metadata;
  draft.metadata.ownerReferences = withOwner(draft, { apiVersion, kind, name, uid }).metadata.ownerReferences;
}

async function ownTemplates(scope: MachineSetScope): Promise<void> {
  const { core, draft, cluster, deployment, set, signal } = scope;
  const { infrastructureRef, bootstrap } = draft.spec.template.spec;
  const references: (Reference | undefined)[] = [infrastructureRef, bootstrap?.configRef];
  for (const reference of references) {
    if (!reference?.kind.endsWith('Template')) continue;
    if (!(await ownedTemplate(core, reference, cluster, signal))) scope.missing.push(reference.kind);
  }
  // Old sets only shrink: they can do without.
  const revision = (object: KubeObject) => object.metadata.annotations?.[ANNOTATION.revision];
  const isOld = deployment !== undefined && revision(deployment) !== revision(draft);
  if (scope.missing.length > 0 && !isDeleting(set) && !isOld) {
    throw new TerminalError(`${scope.missing.join(' and ')} does not exist`);
  }
}

async function deleteMachines({ core, draft, machines: found, signal }: MachineSetScope): Promise<void> {
  if (!found) return;
  for (const machine of found) {
    if (!isDeleting(machine)) await core.store.delete(machines, keyOf(machine), { signal }).catch(ignoreNotFound);
  }
  if (found.length > 0) return;
  draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== FINALIZER.machineSet);
}
