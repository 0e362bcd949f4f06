/** What is filled in when an object of Cluster API is written; upstream does the same in its webhooks. */
import type { KubeObject } from '../../../api/object.ts';
import { clusters, machineDeployments, machineHealthChecks, machineSets, machines } from '../../../api/resources.ts';
import { labelValue } from '../machine-set/machine-set-scope.ts';
import { ANNOTATION, LABEL } from '../names.ts';

const NODE_DELETION_TIMEOUT_SECONDS = 10;
const NODE_STARTUP_TIMEOUT_SECONDS = 600;

type Defaulter = (object: KubeObject, old: KubeObject | undefined) => void;

export const DEFAULTERS: Record<string, Defaulter> = {
  [clusters.plural]: () => {},
  [machines.plural]: defaultMachine,
  [machineSets.plural]: defaultMachineSet,
  [machineDeployments.plural]: defaultMachineDeployment,
  [machineHealthChecks.plural]: defaultMachineHealthCheck,
};

function defaultMachine(machine: KubeObject): void {
  labelWithCluster(machine);
  machine.spec.version &&= withV(machine.spec.version);
  machine.spec.deletion = { nodeDeletionTimeoutSeconds: NODE_DELETION_TIMEOUT_SECONDS, ...machine.spec.deletion };
}

function defaultMachineSet(set: KubeObject, old: KubeObject | undefined): void {
  labelWithCluster(set);
  defaultPool(set, old, { [LABEL.setName]: labelValue(set.metadata.name ?? '') });
}

function defaultMachineDeployment(deployment: KubeObject, old: KubeObject | undefined): void {
  labelWithCluster(deployment);
  defaultPool(deployment, old, { [LABEL.deploymentName]: deployment.metadata.name ?? '' });
  const label = { [LABEL.clusterName]: deployment.spec.clusterName };
  selectAlso(deployment, label);
  const strategy = { type: 'RollingUpdate', ...deployment.spec.rollout?.strategy };
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate = { maxSurge: 1, maxUnavailable: 0, ...strategy.rollingUpdate };
  }
  deployment.spec.rollout = { ...deployment.spec.rollout, strategy };
}

function defaultMachineHealthCheck(check: KubeObject): void {
  labelWithCluster(check);
  check.spec.checks = { nodeStartupTimeoutSeconds: NODE_STARTUP_TIMEOUT_SECONDS, ...check.spec.checks };
}

function defaultPool(pool: KubeObject, old: KubeObject | undefined, itself: Record<string, string>): void {
  const { spec } = pool;
  spec.replicas ??= defaultReplicas(pool, old);
  if (spec.template?.spec?.version) spec.template.spec.version = withV(spec.template.spec.version);
  const { matchLabels = {}, matchExpressions = [] } = spec.selector ?? {};
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) selectAlso(pool, itself);
}

/** Where an autoscaler decides, its bounds hold; what it decided before stays. */
function defaultReplicas({ metadata }: KubeObject, old: KubeObject | undefined): number {
  const bound = (annotation: string) => {
    const text = metadata.annotations?.[annotation];
    return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
  };
  const [least, most] = [bound(ANNOTATION.autoscalerMin), bound(ANNOTATION.autoscalerMax)];
  if (least === undefined || most === undefined) return 1;
  const before: number | undefined = old?.spec?.replicas;
  return before === undefined ? least : Math.min(Math.max(before, least), most);
}

function selectAlso({ spec }: KubeObject, labels: Record<string, string>): void {
  spec.selector = { ...spec.selector, matchLabels: { ...spec.selector?.matchLabels, ...labels } };
  const { metadata } = spec.template;
  spec.template = { ...spec.template, metadata: { ...metadata, labels: { ...metadata?.labels, ...labels } } };
}

function labelWithCluster({ metadata, spec }: KubeObject): void {
  if (spec.clusterName) metadata.labels = { ...metadata.labels, [LABEL.clusterName]: spec.clusterName };
}

function withV(version: string): string {
  return version.startsWith('v') ? version : `v${version}`;
}
