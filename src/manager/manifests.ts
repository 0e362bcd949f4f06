/** Everything a cluster needs for our manager: CRDs, rights, and, where there is an image of it, the manager itself. */
import type { KubeObject } from '../api/object.ts';
import { ourCrds } from './crds.ts';
import { ACCOUNT, aggregatedRole, leaderElectionRules, managerRules, type PolicyRule } from './roles.ts';
import { coreKinds, providerKinds } from './served-kinds.ts';

export interface ManifestOptions {
  namespace: string;
  /** Without it the manager is run somewhere else, as this account. */
  image?: string;
  /** Our own Cluster API core is to drive, not upstream's. */
  withCore: boolean;
}

const PROVIDER = { 'cluster.x-k8s.io/provider': 'infrastructure-rookery' };
const APP = { 'app.kubernetes.io/name': 'rookery', 'app.kubernetes.io/component': 'manager' };
const RBAC = 'rbac.authorization.k8s.io';
const PORTS = { virtual: 7444, health: 9440, metrics: 9441 };
const HOME = '/var/lib/rookery';
const VIRTUAL_SERVICE = 'rookery-virtual';

export function crdManifests({ withCore }: Pick<ManifestOptions, 'withCore'>): KubeObject[] {
  const providers = ourCrds(providerKinds).map(provided);
  return withCore ? [...ourCrds(coreKinds), ...providers] : providers;
}

export function managerManifests(options: ManifestOptions): KubeObject[] {
  const { namespace, withCore, image } = options;
  const named = { name: ACCOUNT, namespace };
  const objects: KubeObject[] = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: named },
    role('ClusterRole', { name: ACCOUNT }, managerRules(withCore)),
    binding('ClusterRole', { name: ACCOUNT }, namespace),
    role('Role', named, leaderElectionRules()),
    binding('Role', named, namespace),
    aggregatedRole(),
    ...(image ? deployed(namespace, image) : []),
  ];
  return [...crdManifests(options), ...objects.map(provided)];
}

/** clusterctl finds what belongs together by it. */
function provided(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...PROVIDER } } };
}

function role(kind: 'ClusterRole' | 'Role', metadata: KubeObject['metadata'], rules: PolicyRule[]): KubeObject {
  return { apiVersion: `${RBAC}/v1`, kind, metadata, rules };
}

function binding(kind: 'ClusterRole' | 'Role', metadata: KubeObject['metadata'], namespace: string): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: `${kind}Binding`,
    metadata,
    roleRef: { apiGroup: RBAC, kind, name: ACCOUNT },
    subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
  };
}

/** One replica on one volume: virtual clusters are files, and a folder has one owner. */
function deployed(namespace: string, image: string): KubeObject[] {
  const args = [
    '--leader-elect',
    '--virtual-host=0.0.0.0',
    `--virtual-port=${PORTS.virtual}`,
    `--virtual-url=https://${VIRTUAL_SERVICE}.${namespace}.svc:${PORTS.virtual}`,
    '--probe-host=0.0.0.0',
    `--health-port=${PORTS.health}`,
    `--metrics-port=${PORTS.metrics}`,
  ];
  const probe = (path: string) => ({ httpGet: { path, port: 'health' } });
  const container = {
    name: 'manager',
    image,
    args: [`--home=${HOME}`, 'manager', ...args],
    ports: Object.entries(PORTS).map(([name, containerPort]) => ({ name, containerPort })),
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    resources: { requests: { cpu: '100m', memory: '128Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'home', mountPath: HOME },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: ACCOUNT, namespace },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: VIRTUAL_SERVICE, namespace },
      spec: { selector: APP, ports: [{ name: 'virtual', port: PORTS.virtual, targetPort: 'virtual' }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: ACCOUNT, namespace, labels: APP },
      spec: {
        replicas: 1,
        strategy: { type: 'Recreate' },
        selector: { matchLabels: APP },
        template: {
          metadata: { labels: { ...APP, ...PROVIDER } },
          spec: {
            serviceAccountName: ACCOUNT,
            // A reconcile under way is let come to its end, and the lease is given back.
            terminationGracePeriodSeconds: 40,
            securityContext: {
              runAsNonRoot: true,
              runAsUser: 65532,
              fsGroup: 65532,
              seccompProfile: { type: 'RuntimeDefault' },
            },
            containers: [container],
            volumes: [
              { name: 'home', persistentVolumeClaim: { claimName: ACCOUNT } },
              { name: 'tmp', emptyDir: {} },
            ],
          },
        },
      },
    },
  ];
}
