/** The StatefulSet of a vcluster: API server, controllers and syncer in one pod, its data in a volume. */
import { at, isBranch, isOn, type Json, type JsonObject } from './json-tree.ts';
import { OWNER_LABEL, SERVICE_UID } from './marks.ts';

export interface ControlPlaneInputs {
  id: string;
  name: string;
  config: JsonObject;
  configHash: string;
  serviceUid: string;
}

type Content = Record<string, unknown>;

const SETTINGS = 'controlPlane.statefulSet';
const KUBERNETES = 'controlPlane.distro.k8s';

export function controlPlaneSpec(inputs: ControlPlaneInputs): Content {
  const { id, name, config } = inputs;
  const labels = { app: 'vcluster', release: name };
  const setting = (path: string) => at(config, `${SETTINGS}.${path}`);
  const isKept = isOn(config, `${SETTINGS}.persistence.volumeClaim.enabled`);
  return {
    selector: { matchLabels: labels },
    serviceName: `${name}-headless`,
    podManagementPolicy: setting('scheduling.podManagementPolicy'),
    replicas: 1,
    ...(isKept
      ? {
          persistentVolumeClaimRetentionPolicy: { whenDeleted: setting('persistence.volumeClaim.retentionPolicy') },
          volumeClaimTemplates: [claimTemplate(config, { ...labels, [OWNER_LABEL]: id })],
        }
      : {}),
    template: {
      metadata: {
        annotations: {
          vClusterConfigHash: inputs.configHash,
          [SERVICE_UID]: inputs.serviceUid,
          ...branch(setting('pods.annotations')),
        },
        labels: { ...labels, [OWNER_LABEL]: id, ...branch(setting('pods.labels')) },
      },
      spec: podSpec(inputs, isKept),
    },
  };
}

function podSpec({ name, config }: ControlPlaneInputs, isKept: boolean): Content {
  const setting = (path: string) => at(config, `${SETTINGS}.${path}`);
  return {
    terminationGracePeriodSeconds: 15,
    serviceAccountName: `vc-${name}`,
    enableServiceLinks: setting('enableServiceLinks'),
    ...given({
      hostAliases: setting('hostAliases'),
      runtimeClassName: setting('runtimeClassName'),
      priorityClassName: setting('scheduling.priorityClassName'),
      securityContext: setting('security.podSecurityContext'),
      nodeSelector: setting('scheduling.nodeSelector'),
      affinity: setting('scheduling.affinity'),
      topologySpreadConstraints: setting('scheduling.topologySpreadConstraints'),
      tolerations: setting('scheduling.tolerations'),
      dnsPolicy: setting('dnsPolicy'),
      dnsConfig: setting('dnsConfig'),
    }),
    volumes: [
      { name: 'helm-cache', emptyDir: {} },
      { name: 'binaries', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
      { name: 'certs', emptyDir: {} },
      { name: 'vcluster-config', secret: { secretName: `vc-config-${name}` } },
      ...(isKept ? [] : [{ name: 'data', emptyDir: {} }]),
    ],
    initContainers: [binaries(config)],
    containers: [syncer(name, config)],
  };
}

/** Copies the binaries of Kubernetes to where the syncer starts them from. */
function binaries(config: JsonObject): Content {
  return {
    name: 'kubernetes',
    image: imageName(config, `${KUBERNETES}.image`),
    command: ['cp'],
    args: ['-r', '/kubernetes/.', '/binaries/'],
    volumeMounts: [{ name: 'binaries', mountPath: '/binaries' }],
    resources: at(config, `${KUBERNETES}.resources`),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...given({
      imagePullPolicy: at(config, `${KUBERNETES}.imagePullPolicy`),
      securityContext: at(config, `${KUBERNETES}.securityContext`),
    }),
  };
}

function syncer(name: string, config: JsonObject): Content {
  const setting = (path: string) => at(config, `${SETTINGS}.${path}`);
  return {
    name: 'syncer',
    image: imageName(config, `${SETTINGS}.image`),
    ...given({ imagePullPolicy: setting('imagePullPolicy') }),
    ...probe(config, 'livenessProbe', '/healthz'),
    ...probe(config, 'readinessProbe', '/readyz'),
    ...probe(config, 'startupProbe', '/readyz'),
    ...given({ securityContext: setting('security.containerSecurityContext') }),
    resources: setting('resources'),
    // Why it ended is then in the status of the pod, and nobody needs the right to read logs.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    env: [
      { name: 'VCLUSTER_NAME', value: name },
      { name: 'LOFT_LOG_ENCODING', value: at(config, 'logging.encoding') ?? 'console' },
      fromField('POD_NAME', 'metadata.name'),
      fromField('POD_IP', 'status.podIP'),
      fromField('NODE_NAME', 'spec.nodeName'),
      fromField('NODE_IP', 'status.hostIP'),
      ...list(setting('env')),
      ...list(at(config, `${KUBERNETES}.env`)),
    ],
    volumeMounts: Object.entries({
      data: '/data',
      binaries: '/binaries',
      certs: '/pki',
      'helm-cache': '/.cache/helm',
      'vcluster-config': '/var/lib/vcluster',
      tmp: '/tmp',
    }).map(([volume, mountPath]) => ({ name: volume, mountPath })),
  };
}

function claimTemplate(config: JsonObject, labels: Record<string, string>): Content {
  const claim = (path: string) => at(config, `${SETTINGS}.persistence.volumeClaim.${path}`);
  return {
    // The API server fills these two in for each entry, and compares whole entries: without them every apply would be a change.
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', labels },
    spec: {
      accessModes: claim('accessModes'),
      ...given({ storageClassName: claim('storageClass') }),
      resources: { requests: { storage: claim('size') } },
    },
  };
}

function probe(config: JsonObject, kind: string, path: string): Content {
  const settings = at(config, `${SETTINGS}.probes.${kind}`);
  if (!isBranch(settings) || !isOn(settings, 'enabled')) return {};
  const { enabled: _, ...times } = settings;
  return { [kind]: { httpGet: { path, port: 8443, scheme: 'HTTPS' }, ...times } };
}

/** A registry for all images goes before the one of the image. */
function imageName(config: JsonObject, path: string): string {
  const part = (name: string) => String(at(config, `${path}.${name}`) ?? '');
  const registry = String(at(config, 'controlPlane.advanced.defaultImageRegistry') || part('registry'));
  return `${registry ? `${registry}/` : ''}${part('repository')}:${part('tag')}`;
}

const fromField = (name: string, fieldPath: string): Content => ({ name, valueFrom: { fieldRef: { fieldPath } } });

/** Only what has been set: empty texts, lists and mappings mean the default. */
function given(fields: Record<string, Json | undefined>): Content {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => {
      if (value === undefined || value === null || value === '') return false;
      return typeof value !== 'object' || Object.keys(value).length > 0;
    }),
  );
}

const branch = (value: Json | undefined): JsonObject => (isBranch(value) ? value : {});
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
