/** How many machines a Cluster has and wants, as its control plane and its workers report them. */
import type { KubeObject } from '../../../api/object.ts';
import { isConditionTrue, isOwnedBy } from '../../../kube/index.ts';
import { isControlPlaneMachine } from '../core.ts';
import { sumVersions, type VersionCount, versionsOfMachines } from '../versions.ts';
import type { ClusterScope } from './cluster-scope.ts';

interface Counters {
  desiredReplicas?: number;
  replicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  upToDateReplicas?: number;
  versions?: VersionCount[];
}

export function setReplicas({ draft, cluster, controlPlane, descendants }: ClusterScope): void {
  const { machines = [], machineDeployments = [], machineSets = [] } = descendants ?? {};
  if (cluster.spec?.controlPlaneRef) {
    put(draft, 'controlPlane', controlPlane.object ? reported(controlPlane.object) : {});
  } else if (descendants) {
    put(draft, 'controlPlane', counted(machines.filter(isControlPlaneMachine)));
  }
  if (!descendants) return;
  const alone = machines.filter((machine) => !isControlPlaneMachine(machine) && isOwnedBy(machine, cluster));
  const pools = [...machineDeployments, ...machineSets.filter((set) => isOwnedBy(set, cluster))];
  put(draft, 'workers', sum([...pools.map(reported), ...(alone.length > 0 ? [counted(alone)] : [])]));
}

/** An empty struct is left out. */
function put(draft: KubeObject, field: 'controlPlane' | 'workers', counters: Counters): void {
  const known = Object.entries(counters).filter(([, value]) => value !== undefined);
  if (known.length > 0) draft.status[field] = Object.fromEntries(known);
  else delete draft.status[field];
}

function reported({ spec, status }: KubeObject): Counters {
  const { replicas, readyReplicas, availableReplicas, upToDateReplicas, versions } = status ?? {};
  return {
    desiredReplicas: spec?.replicas,
    ...{ replicas, readyReplicas, availableReplicas, upToDateReplicas, versions },
  };
}

/** A machine that stands alone is wanted because it is there. */
function counted(machines: KubeObject[]): Counters {
  if (machines.length === 0) return {};
  const withCondition = (type: string) => machines.filter((machine) => isConditionTrue(machine, type)).length;
  return {
    desiredReplicas: machines.length,
    replicas: machines.length,
    readyReplicas: withCondition('Ready'),
    availableReplicas: withCondition('Available'),
    upToDateReplicas: withCondition('UpToDate'),
    versions: versionsOfMachines(machines),
  };
}

function sum(parts: Counters[]): Counters {
  const add = (field: Exclude<keyof Counters, 'versions'>) => {
    const values = parts.map((part) => part[field]).filter((value) => value !== undefined);
    return values.length > 0 ? values.reduce((a, b) => a + b, 0) : undefined;
  };
  return {
    desiredReplicas: add('desiredReplicas'),
    replicas: add('replicas'),
    readyReplicas: add('readyReplicas'),
    availableReplicas: add('availableReplicas'),
    upToDateReplicas: add('upToDateReplicas'),
    versions: sumVersions(parts.flatMap((part) => part.versions ?? [])),
  };
}
