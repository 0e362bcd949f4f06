/** Defaults of pods and of everything that holds a pod template (pkg/apis/core/v1/defaults.go). */
import { type Any, clone, defaultEmpty, defaultTo, ensure, items } from '../fields.ts';
import { addQuantity, formatQuantity, parseQuantity, type Quantity, QuantityError, ZERO } from '../quantity.ts';
import { normalizeQuantity, normalizeResources } from '../resource-list.ts';

/** `latest`, also when no tag is given; a digest has none. */
export function imageTag(image: string): string {
  const afterSlash = image.slice(image.lastIndexOf('/') + 1);
  if (afterSlash.includes('@')) {
    const tagged = afterSlash.slice(0, afterSlash.indexOf('@'));
    return tagged.includes(':') ? tagged.slice(tagged.indexOf(':') + 1) : '';
  }
  const colon = afterSlash.indexOf(':');
  return colon < 0 ? 'latest' : afterSlash.slice(colon + 1);
}

function pullPolicy(image: unknown): string {
  return typeof image === 'string' && image !== '' && imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultHandler(handler: Any): void {
  if (handler?.httpGet) defaultEmpty(handler.httpGet, { path: '/', scheme: 'HTTP' });
  if (handler?.grpc) defaultTo(handler.grpc, { service: '' });
}

function defaultProbe(probe: Any): void {
  if (!probe) return;
  defaultEmpty(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  defaultHandler(probe);
}

function defaultFieldRef(source: Any): void {
  if (source?.fieldRef) defaultEmpty(source.fieldRef, { apiVersion: 'v1' });
  if (source?.resourceFieldRef) {
    defaultEmpty(source.resourceFieldRef, { divisor: '0' });
    normalizeQuantity(source.resourceFieldRef, 'divisor');
  }
  if (source?.fileKeyRef) defaultTo(source.fileKeyRef, { optional: false });
}

export function defaultContainer(container: Any): void {
  defaultEmpty(container, {
    imagePullPolicy: pullPolicy(container.image),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
  for (const port of items(container.ports)) defaultEmpty(port, { protocol: 'TCP' });
  for (const env of items(container.env)) defaultFieldRef(env.valueFrom);
  ensure(container, 'resources');
  normalizeResources(container.resources);
  defaultProbe(container.livenessProbe);
  defaultProbe(container.readinessProbe);
  defaultProbe(container.startupProbe);
  defaultHandler(container.lifecycle?.postStart);
  defaultHandler(container.lifecycle?.preStop);
}

const RBD = { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' };

export function defaultVolumeSource(volume: Any): void {
  if (volume.hostPath) defaultTo(volume.hostPath, { type: '' });
  for (const name of ['secret', 'configMap', 'downwardAPI', 'projected']) {
    if (volume[name]) defaultTo(volume[name], { defaultMode: 0o644 });
  }
  for (const item of items(volume.downwardAPI?.items)) defaultFieldRef(item);
  for (const source of items(volume.projected?.sources)) {
    for (const item of items(source.downwardAPI?.items)) defaultFieldRef(item);
    if (source.serviceAccountToken) defaultTo(source.serviceAccountToken, { expirationSeconds: 3600 });
  }
  if (volume.iscsi) defaultEmpty(volume.iscsi, { iscsiInterface: 'default' });
  if (volume.rbd) defaultEmpty(volume.rbd, RBD);
  if (volume.scaleIO) defaultEmpty(volume.scaleIO, { storageMode: 'ThinProvisioned', fsType: 'xfs' });
  if (volume.azureDisk) {
    defaultTo(volume.azureDisk, { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' });
  }
  if (volume.image) defaultEmpty(volume.image, { pullPolicy: pullPolicy(volume.image.reference) });
  if (volume.emptyDir) normalizeQuantity(volume.emptyDir, 'sizeLimit');
  const claim = volume.ephemeral?.volumeClaimTemplate;
  if (claim) {
    ensure(claim, 'metadata');
    defaultClaimSpec(ensure(claim, 'spec'));
  }
}

function defaultVolume(volume: Any): void {
  const sources = Object.entries(volume).filter(
    ([name, value]) => name !== 'name' && value !== null && value !== undefined,
  );
  if (sources.length === 0) volume.emptyDir = {};
  defaultVolumeSource(volume);
}

/** The spec of a PersistentVolumeClaim, on its own or in a template. */
export function defaultClaimSpec(spec: Any): void {
  defaultTo(spec, { volumeMode: 'Filesystem' });
  ensure(spec, 'resources');
  normalizeResources(spec.resources);
}

export function defaultPodSpec(spec: Any): void {
  defaultEmpty(spec, { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always', schedulerName: 'default-scheduler' });
  defaultTo(spec, { securityContext: {}, terminationGracePeriodSeconds: 30 });
  mirrorServiceAccount(spec);
  for (const volume of items(spec.volumes)) defaultVolume(volume);
  for (const container of items(spec.initContainers)) defaultContainer(container);
  for (const container of items(spec.containers)) defaultContainer(container);
  for (const container of items(spec.ephemeralContainers)) defaultContainer(container);
  normalizeResources(spec.resources);
  for (const name of Object.keys(spec.overhead ?? {})) normalizeQuantity(spec.overhead, name);
  if (spec.hostNetwork)
    for (const container of [...items(spec.containers), ...items(spec.initContainers)]) hostPorts(container);
}

/** The old name of the field follows the new one; either may be given. */
function mirrorServiceAccount(spec: Any): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function hostPorts(container: Any): void {
  for (const port of items(container.ports)) if (!port.hostPort) port.hostPort = port.containerPort;
}

/** A pod template, in a workload or as a PodTemplate. */
export function defaultPodTemplate(template: Any): void {
  ensure(template, 'metadata');
  defaultPodSpec(ensure(template, 'spec'));
}

export function defaultPod(pod: Any): void {
  const spec = ensure(pod, 'spec');
  for (const container of [...items(spec.containers), ...items(spec.initContainers)]) limitsToRequests(container);
  defaultPodRequests(spec);
  defaultTo(spec, { enableServiceLinks: true });
  defaultPodSpec(spec);
  // Times without omitempty: always in the answer.
  for (const condition of items(ensure(pod, 'status').conditions)) {
    defaultTo(condition, { lastProbeTime: null, lastTransitionTime: null });
  }
}

/** Only pods, not templates: a limit without a request is the request too. */
function limitsToRequests(container: Any): void {
  const limits = container.resources?.limits;
  if (!limits || Object.keys(limits).length === 0) return;
  const requests = ensure(container.resources, 'requests');
  for (const [name, value] of Object.entries(limits)) if (requests[name] === undefined) requests[name] = clone(value);
}

const POD_LEVEL = (name: string) => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');

/** Pod-level limits without requests: the sum over containers, else the limit. */
function defaultPodRequests(spec: Any): void {
  const limits = spec.resources?.limits;
  if (!limits || Object.keys(limits).length === 0) return;
  const requests = ensure(spec.resources, 'requests');
  for (const [name, sum] of Object.entries(sumRequests(spec))) {
    if (requests[name] === undefined && (name === 'cpu' || name === 'memory')) requests[name] = formatQuantity(sum);
  }
  for (const [name, value] of Object.entries(limits)) {
    if (requests[name] === undefined && POD_LEVEL(name)) requests[name] = value;
  }
}

function sumRequests(spec: Any): Record<string, Quantity> {
  const sums: Record<string, Quantity> = {};
  for (const container of items(spec.containers)) {
    for (const [name, value] of Object.entries(container.resources?.requests ?? {})) {
      try {
        sums[name] = addQuantity(sums[name] ?? ZERO, parseQuantity(value as string));
      } catch (error) {
        if (!(error instanceof QuantityError)) throw error;
      }
    }
  }
  return sums;
}
