// Kinds of a provider nobody has heard of: no schema, nothing but the contract labels. Any core has to drive them.
import type { KubeObject } from '../../../src/api/object.ts';
import type { ResourceRef } from '../../../src/kube/index.ts';

export const GROUP = 'foo.example.dev';
const VERSION = 'v1alpha7';

function foo(kind: string): ResourceRef {
  return { group: GROUP, version: VERSION, plural: `${kind.toLowerCase()}s`, kind, namespaced: true };
}

export const fooClusters = foo('FooCluster');
export const fooControlPlanes = foo('FooControlPlane');
export const fooMachines = foo('FooMachine');
export const fooMachineTemplates = foo('FooMachineTemplate');
export const fooConfigs = foo('FooConfig');
export const fooConfigTemplates = foo('FooConfigTemplate');

export const fooKinds = [
  fooClusters,
  fooControlPlanes,
  fooMachines,
  fooMachineTemplates,
  fooConfigs,
  fooConfigTemplates,
];

export function fooCrd({ group, version, plural, kind }: ResourceRef): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': `v1alpha1_${version}` } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), categories: ['cluster-api'] },
      // The older one is served as well, so that a core that picks the wrong version is found out by what it writes.
      versions: [version, 'v1alpha1'].map((name) => ({
        name,
        served: true,
        storage: name === version,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      })),
    },
  };
}

export function ref({ group, kind }: ResourceRef, name: string) {
  return { apiGroup: group, kind, name };
}
