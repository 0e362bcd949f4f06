/** A Machine as its MachineSet wants it: a new one whole, an existing one in what may change without replacing it. */
import type { KubeObject } from '../../../api/object.ts';
import type { Random } from '../../../clock.ts';
import { ownerReference } from '../../../kube/index.ts';
import { withInPlaceFields } from '../machine-template.ts';
import { FINALIZER } from '../names.ts';
import type { Reference } from '../provider-kinds.ts';
import { nameFromTemplate } from '../random-name.ts';
import { machineAnnotations, machineLabels } from './machine-set-scope.ts';

export function newMachineName(set: KubeObject, random: Random): string {
  const template: string = set.spec.machineNaming?.template ?? '{{ .machineSet.name }}-{{ .random }}';
  const values = { 'cluster.name': set.spec.clusterName, 'machineSet.name': set.metadata.name ?? '' };
  return nameFromTemplate(template, values, random);
}

export interface MachineParts {
  infrastructureRef: Reference;
  configRef?: Reference;
}

export function newMachine(set: KubeObject, name: string, { infrastructureRef, configRef }: MachineParts): KubeObject {
  const { spec } = set.spec.template;
  const { configRef: _, ...bootstrap } = spec.bootstrap ?? {};
  return machine(set, name, {
    ...spec,
    clusterName: set.spec.clusterName,
    bootstrap: configRef ? { ...bootstrap, configRef } : bootstrap,
    infrastructureRef,
  });
}

/** References, version and place of a machine never change under it. */
export function updatedMachine(set: KubeObject, existing: KubeObject): KubeObject {
  const { spec } = set.spec.template;
  const { configRef } = existing.spec.bootstrap ?? {};
  const fixed: Record<string, unknown> = { clusterName: set.spec.clusterName };
  for (const field of ['infrastructureRef', 'version', 'failureDomain']) {
    if (existing.spec[field] !== undefined) fixed[field] = existing.spec[field];
  }
  const { dataSecretName } = spec.bootstrap ?? {};
  fixed.bootstrap = configRef ? { configRef } : { ...(dataSecretName ? { dataSecretName } : {}) };
  const intent = machine(set, existing.metadata.name as string, withInPlaceFields(fixed, spec));
  return { ...intent, metadata: { ...intent.metadata, uid: existing.metadata.uid } };
}

function machine(set: KubeObject, name: string, spec: KubeObject['spec']): KubeObject {
  return {
    apiVersion: set.apiVersion,
    kind: 'Machine',
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: machineLabels(set),
      annotations: machineAnnotations(set),
      finalizers: [FINALIZER.machine],
      ownerReferences: [ownerReference(set, { controller: true, blockOwnerDeletion: true })],
    },
    spec,
  };
}
