/** Names of the kinds our controllers and commands work with. Plain data: importing it loads no schema library. */
interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

function resource(group: string, version: string, plural: string, kind: string, namespaced = true): ResourceName {
  return { group, version, plural, kind, namespaced };
}

const CAPI = 'cluster.x-k8s.io';
const INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io';
const WORKSHOP = 'workshop.platform';

export const clusters = resource(CAPI, 'v1beta2', 'clusters', 'Cluster');
export const machines = resource(CAPI, 'v1beta2', 'machines', 'Machine');
export const machineSets = resource(CAPI, 'v1beta2', 'machinesets', 'MachineSet');
export const machineDeployments = resource(CAPI, 'v1beta2', 'machinedeployments', 'MachineDeployment');
export const machineHealthChecks = resource(CAPI, 'v1beta2', 'machinehealthchecks', 'MachineHealthCheck');
export const virtualClusters = resource(INFRASTRUCTURE, 'v1alpha1', 'virtualclusters', 'VirtualCluster');
export const kindClusters = resource(INFRASTRUCTURE, 'v1alpha1', 'kindclusters', 'KINDCluster');
export const k3dClusters = resource(INFRASTRUCTURE, 'v1alpha1', 'k3dclusters', 'K3dCluster');
export const k3sClusters = resource(INFRASTRUCTURE, 'v1alpha1', 'k3sclusters', 'K3sCluster');
export const vclusters = resource(INFRASTRUCTURE, 'v1alpha1', 'vclusters', 'VCluster');
export const workspaceTemplates = resource(WORKSHOP, 'v1alpha1', 'workspacetemplates', 'WorkspaceTemplate', false);
export const workspaceInstances = resource(WORKSHOP, 'v1alpha1', 'workspaceinstances', 'WorkspaceInstance');
export const clusterJobs = resource('rookery.dev', 'v1alpha1', 'clusterjobs', 'ClusterJob');

export const secrets = resource('', 'v1', 'secrets', 'Secret');
export const configMaps = resource('', 'v1', 'configmaps', 'ConfigMap');
export const namespaces = resource('', 'v1', 'namespaces', 'Namespace', false);
export const customResourceDefinitions = resource(
  'apiextensions.k8s.io',
  'v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
  false,
);
