/** A MachineSet as its MachineDeployment wants it: a new one whole, an old one in what may change in place. */
import { createHash } from 'node:crypto';
import type { KubeObject } from '../../../api/object.ts';
import type { Random } from '../../../clock.ts';
import { ownerReference } from '../../../kube/index.ts';
import { withInPlaceFields } from '../machine-template.ts';
import { ANNOTATION, LABEL } from '../names.ts';
import { randomName, randomSuffix } from '../random-name.ts';
import { bounds, isOnDelete, revisionOf, wantedReplicas } from './rollout-plan.ts';

/** Annotations of a deployment that are about itself. */
const NOT_COPIED: string[] = [
  'kubectl.kubernetes.io/last-applied-configuration',
  ANNOTATION.revision,
  ANNOTATION.revisionHistory,
  ANNOTATION.desiredReplicas,
  ANNOTATION.maxReplicas,
];

export function newMachineSet(deployment: KubeObject, old: KubeObject[], random: Random): KubeObject {
  const suffix = randomSuffix(random);
  const { spec } = deployment.spec.template;
  const digest = createHash('sha256')
    .update(JSON.stringify(rolloutFields(spec)))
    .digest();
  const hash = `${digest.readUInt32BE(0)}-${suffix}`;
  const name = randomName(`${deployment.metadata.name}-`, random, suffix);
  return machineSet(deployment, { name, hash, spec, replicas: 0, annotations: currentAnnotations(undefined, old) });
}

export function updatedMachineSet(
  deployment: KubeObject,
  set: KubeObject,
  old: KubeObject[],
  isCurrent: boolean,
): KubeObject {
  const { annotations = {}, labels = {} } = set.metadata;
  const own: Record<string, string> = {};
  for (const key of [ANNOTATION.revision, ANNOTATION.revisionHistory]) {
    if (annotations[key] !== undefined) own[key] = annotations[key];
  }
  // Where people decide by deleting, an old set makes no machine again.
  own[ANNOTATION.disableMachineCreate] = String(!isCurrent && isOnDelete(deployment));
  return machineSet(deployment, {
    name: set.metadata.name as string,
    hash: labels[LABEL.templateHash] ?? '',
    spec: withInPlaceFields(set.spec.template.spec, deployment.spec.template.spec),
    replicas: set.spec.replicas ?? 0,
    annotations: isCurrent ? currentAnnotations(set, old) : own,
  });
}

/** The newest set has the highest revision; one that becomes the newest again keeps a list of those it had. */
function currentAnnotations(set: KubeObject | undefined, old: KubeObject[]): Record<string, string> {
  const next = Math.max(0, ...old.map(revisionOf)) + 1;
  const had = set && revisionOf(set);
  const revision = had && had > next ? had : next;
  const history = set?.metadata.annotations?.[ANNOTATION.revisionHistory] ?? '';
  const entries = [...history.split(',').filter(Boolean), ...(had && had !== revision ? [String(had)] : [])];
  return {
    [ANNOTATION.revision]: String(revision),
    ...(entries.length > 0 ? { [ANNOTATION.revisionHistory]: entries.join(',') } : {}),
    [ANNOTATION.disableMachineCreate]: 'false',
  };
}

interface Parts {
  name: string;
  hash: string;
  spec: KubeObject['spec'];
  replicas: number;
  annotations: Record<string, string>;
}

function machineSet(deployment: KubeObject, { name, hash, spec, replicas, annotations }: Parts): KubeObject {
  const { template, selector, clusterName, deletion, machineNaming } = deployment.spec;
  const wanted = wantedReplicas(deployment);
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.includes(key));
  const labels = { ...template.metadata?.labels, [LABEL.clusterName]: clusterName, [LABEL.templateHash]: hash };
  return {
    apiVersion: deployment.apiVersion,
    kind: 'MachineSet',
    metadata: {
      name,
      namespace: deployment.metadata.namespace,
      labels: { ...labels, [LABEL.deploymentName]: deployment.metadata.name as string },
      annotations: {
        ...Object.fromEntries(copied),
        [ANNOTATION.desiredReplicas]: String(wanted),
        [ANNOTATION.maxReplicas]: String(wanted + bounds(deployment).maxSurge),
        ...annotations,
      },
      ownerReferences: [ownerReference(deployment, { controller: true, blockOwnerDeletion: true })],
    },
    spec: {
      clusterName,
      replicas,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [LABEL.templateHash]: hash } },
      template: {
        metadata: { labels, ...(template.metadata?.annotations ? { annotations: template.metadata.annotations } : {}) },
        spec,
      },
      ...(deletion ? { deletion } : {}),
      ...(machineNaming ? { machineNaming } : {}),
    },
  };
}

function rolloutFields({ version, bootstrap, infrastructureRef, failureDomain }: KubeObject['spec']) {
  return [version, bootstrap, infrastructureRef, failureDomain];
}
