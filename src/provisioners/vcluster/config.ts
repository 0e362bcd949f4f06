/**
 * `vcluster.yaml`: what vcluster itself reads when it starts, from the Secret `vc-config-<name>`. It fills in nothing by itself, so every switch
 * that shall be on stands here. Parts of it that only its chart would look at (ingress, etcd, private nodes, …) are left out: we make
 * none of those.
 */
import { type Json, type JsonObject, merged } from './json-tree.ts';
import type { VclusterSpec } from './marks.ts';
import { checkedValues } from './values.ts';

export interface ConfigInputs {
  spec: VclusterSpec;
  /** `v1.35.0`. */
  kubernetesVersion: string;
  /** `0.34.0`. */
  vclusterVersion: string;
  /** Addresses of nodes by which it is reached, for its certificate. */
  addresses: readonly string[];
}

const on = { enabled: true };
const automatic = { enabled: 'auto' };

export function vclusterConfig(inputs: ConfigInputs): JsonObject {
  return merged(base(inputs), checkedValues(inputs.spec.values ?? {}));
}

function base({ spec, kubernetesVersion, vclusterVersion, addresses }: ConfigInputs): JsonObject {
  const { images = {}, expose = {} } = spec;
  const pullSecrets = (images.pullSecrets ?? []).map((name) => ({ name }));
  const syncer = image(images.vcluster ?? 'ghcr.io/loft-sh/vcluster-oss', vclusterVersion);
  const pullPolicy = images.pullPolicy ?? '';
  const sans = [...new Set([...(expose.host ? [expose.host] : []), ...(expose.sans ?? []), ...addresses])];
  return {
    controlPlane: {
      advanced: {
        defaultImageRegistry: images.registry ?? '',
        serviceAccount: { ...on, imagePullSecrets: pullSecrets },
        workloadServiceAccount: on,
      },
      coredns: {
        ...on,
        deployment: {
          image: images.coredns ?? '',
          replicas: 1,
          resources: { limits: { cpu: '1000m', memory: '170Mi' }, requests: { cpu: '20m', memory: '64Mi' } },
          topologySpreadConstraints: [onePerNode('vcluster-kube-dns')],
        },
        service: { spec: { type: 'ClusterIP' } },
      },
      distro: {
        k8s: {
          ...on,
          apiServer: on,
          controllerManager: on,
          version: kubernetesVersion,
          image: image(images.kubernetes ?? 'ghcr.io/loft-sh/kubernetes', kubernetesVersion),
          imagePullPolicy: pullPolicy,
          // No limit of processor time: with the chart's tenth of a core, copying the binaries takes longest of all.
          resources: { limits: { memory: '256Mi' }, requests: { cpu: '40m', memory: '64Mi' } },
        },
      },
      proxy: { bindAddress: '0.0.0.0', port: 8443, extraSANs: sans },
      service: {
        ...on,
        spec: { type: expose.type ?? 'NodePort' },
        ...(expose.nodePort ? { httpsNodePort: expose.nodePort } : {}),
      },
      statefulSet: {
        enableServiceLinks: true,
        highAvailability: { leaseDuration: 60, renewDeadline: 40, replicas: 1, retryPeriod: 15 },
        image: syncer,
        imagePullPolicy: pullPolicy,
        persistence: persistence(spec),
        probes,
        resources: {
          limits: { 'ephemeral-storage': '10Gi', memory: '4Gi', ...spec.resources?.limits },
          requests: { 'ephemeral-storage': '1Gi', cpu: '200m', memory: '256Mi', ...spec.resources?.requests },
        },
        scheduling: { podManagementPolicy: 'Parallel' },
        security: { containerSecurityContext: { allowPrivilegeEscalation: false, runAsGroup: 0, runAsUser: 0 } },
      },
    },
    experimental: { syncSettings: { setOwner: true } },
    integrations: { metricsServer: { nodes: true, pods: true } },
    logging: { encoding: 'console' },
    networking: {
      advanced: { clusterDomain: 'cluster.local', proxyKubelets: { byHostname: true, byIP: true } },
      podCIDR: '10.244.0.0/16',
    },
    rbac: {
      clusterRole: automatic,
      // Snapshots of volumes need rights on the whole host; nobody gets those unasked.
      enableVolumeSnapshotRules: { enabled: false },
      role: on,
    },
    sync: sync(spec.sync ?? {}, syncer),
    telemetry: { enabled: false },
  };
}

const onePerNode = (app: string): Json => ({
  labelSelector: { matchLabels: { 'k8s-app': app } },
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'DoNotSchedule',
});

const probe = { ...on, timeoutSeconds: 3 };
const probes: JsonObject = {
  livenessProbe: { ...probe, failureThreshold: 60, initialDelaySeconds: 60, periodSeconds: 2 },
  readinessProbe: { ...probe, failureThreshold: 60, periodSeconds: 2 },
  // Asked three times as often as in the chart, for the same half hour: nobody waits for the next question.
  startupProbe: { ...probe, failureThreshold: 900, periodSeconds: 2 },
};

function persistence({ persistence: wanted = {} }: VclusterSpec): JsonObject {
  return {
    binariesVolume: [{ name: 'binaries', emptyDir: {} }],
    volumeClaim: {
      enabled: wanted.enabled ?? true,
      accessModes: ['ReadWriteOnce'],
      // A StatefulSet deleted by hand must not take the data with it; when the cluster is deleted, we delete the claim ourselves.
      retentionPolicy: 'Retain',
      size: wanted.size ?? '5Gi',
      storageClass: wanted.storageClassName ?? '',
    },
  };
}

/** `syncer`: has a shell and `sed`, and is on the nodes already; the chart would pull one more image for the names of StatefulSet pods. */
function sync(wanted: NonNullable<VclusterSpec['sync']>, syncer: JsonObject): JsonObject {
  const small = { limits: { cpu: '30m', memory: '64Mi' }, requests: { cpu: '30m', memory: '64Mi' } };
  const asked = (isOn: boolean | undefined) => ({ enabled: isOn ?? false });
  return {
    fromHost: {
      csiDrivers: automatic,
      csiNodes: automatic,
      csiStorageCapacities: automatic,
      events: on,
      ingressClasses: asked(wanted.ingressClasses),
      nodes: { ...asked(wanted.nodes), ...(wanted.nodes ? { selector: { all: true } } : {}) },
      storageClasses: { enabled: wanted.storageClasses ?? 'auto' },
    },
    toHost: {
      configMaps: on,
      endpointSlices: on,
      endpoints: on,
      ingresses: asked(wanted.ingresses),
      networkPolicies: asked(wanted.networkPolicies),
      persistentVolumeClaims: on,
      persistentVolumes: asked(wanted.persistentVolumes),
      podDisruptionBudgets: asked(wanted.podDisruptionBudgets),
      pods: { ...on, rewriteHosts: { ...on, initContainer: { image: syncer, resources: small } } },
      priorityClasses: asked(wanted.priorityClasses),
      secrets: on,
      serviceAccounts: asked(wanted.serviceAccounts),
      services: on,
    },
  };
}

/** `ghcr.io/loft-sh/x` → its registry and the rest. */
export function image(name: string, tag: string): JsonObject {
  const [first = '', ...rest] = name.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return hasRegistry ? { registry: first, repository: rest.join('/'), tag } : { registry: '', repository: name, tag };
}
