/** Rules of the core group but pods, services and workloads. */
import {
  validateConfigMap,
  validateConfigMapUpdate,
  validateSecret,
  validateSecretUpdate,
} from './config-validation.ts';
import * as check from './core-validation.ts';
import { type Any, assign, clone, defaultEmpty, defaultTo, ensure, items } from './fields.ts';
import type { KindRules } from './kind.ts';
import { defaultClaimSpec, defaultVolumeSource } from './pod/defaults.ts';
import { podRules } from './pod/strategy.ts';
import { normalizeResourceList } from './resource-list.ts';
import { serviceRules } from './service/strategy.ts';

const NAMESPACE_LABEL = 'kubernetes.io/metadata.name';

function defaultNamespace(namespace: Any): void {
  const { name } = namespace.metadata;
  if (name) namespace.metadata.labels = { ...namespace.metadata.labels, [NAMESPACE_LABEL]: name };
  ensure(namespace, 'spec');
  defaultEmpty(ensure(namespace, 'status'), { phase: 'Active' });
}

function prepareNamespace(namespace: Any): void {
  const finalizers: string[] = [...items(namespace.spec?.finalizers)];
  if (!finalizers.includes('kubernetes')) finalizers.push('kubernetes');
  namespace.spec = { ...namespace.spec, finalizers };
  defaultNamespace(namespace);
}

function dataToBase64(data: Record<string, string>): Record<string, string> {
  const encode = (value: string) => Buffer.from(value ?? '', 'utf8').toString('base64');
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, encode(value)]));
}

function defaultSecret(secret: Any): void {
  defaultEmpty(secret, { type: 'Opaque' });
  if (secret.stringData) {
    secret.data = { ...secret.data, ...dataToBase64(secret.stringData) };
    delete secret.stringData;
  }
}

function defaultNode(node: Any): void {
  ensure(node, 'spec');
  const status = ensure(node, 'status');
  normalizeResourceList(status.capacity);
  normalizeResourceList(status.allocatable);
  if (!status.allocatable && status.capacity) status.allocatable = clone(status.capacity);
  // Structs without omitempty: always in the answer.
  ensure(ensure(status, 'daemonEndpoints'), 'kubeletEndpoint');
  defaultTo(status.daemonEndpoints.kubeletEndpoint, { Port: 0 });
  defaultTo(ensure(status, 'nodeInfo'), {
    machineID: '',
    systemUUID: '',
    bootID: '',
    kernelVersion: '',
    osImage: '',
    containerRuntimeVersion: '',
    kubeletVersion: '',
    kubeProxyVersion: '',
    operatingSystem: '',
    architecture: '',
  });
}

function defaultVolume(pv: Any): void {
  const spec = ensure(pv, 'spec');
  defaultEmpty(ensure(pv, 'status'), { phase: 'Pending' });
  defaultEmpty(spec, { persistentVolumeReclaimPolicy: 'Retain' });
  defaultTo(spec, { volumeMode: 'Filesystem' });
  normalizeResourceList(spec.capacity);
  defaultVolumeSource(spec);
}

function defaultClaim(pvc: Any): void {
  defaultEmpty(ensure(pvc, 'status'), { phase: 'Pending' });
  normalizeResourceList(pvc.status.capacity);
  normalizeResourceList(pvc.status.allocatedResources);
  const spec = ensure(pvc, 'spec');
  defaultClaimSpec(spec);
  mirrorDataSource(spec);
}

/** `dataSource` and `dataSourceRef` say the same thing for claims and snapshots (pkg/api/persistentvolumeclaim). */
function mirrorDataSource(spec: Any): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource && !dataSourceRef) spec.dataSourceRef = clone(dataSource);
  else if (dataSourceRef && !dataSource && !dataSourceRef.namespace) spec.dataSource = clone(dataSourceRef);
}

function defaultLimitRange(object: Any): void {
  for (const item of items(object.spec?.limits)) {
    for (const name of ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'])
      normalizeResourceList(item[name]);
    if (item.type !== 'Container') continue;
    const limit = { ...item.max, ...item.default };
    const request = { ...item.min, ...limit, ...item.defaultRequest };
    if (Object.keys(limit).length) item.default = limit;
    if (Object.keys(request).length) item.defaultRequest = request;
  }
}

function defaultEndpoints(object: Any): void {
  for (const subset of items(object.subsets)) {
    for (const port of items(subset.ports)) defaultEmpty(port, { protocol: 'TCP' });
  }
}

function defaultEvent(event: Any): void {
  ensure(event, 'source');
  ensure(event, 'involvedObject');
  defaultTo(event, {
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
  });
}

export const coreKinds: Record<string, KindRules> = {
  Pod: podRules,
  Service: serviceRules,
  Namespace: {
    status: { phase: 'Active' },
    defaults: defaultNamespace,
    prepareCreate: prepareNamespace,
    prepareUpdate: (o, old) => {
      ensure(o, 'spec');
      assign(o.spec, 'finalizers', clone(old.spec?.finalizers));
    },
    prepareSubresource: (name, o, old) => {
      if (name === 'finalize') assign(o, 'status', clone(old.status));
    },
    validate: check.validateNamespace,
  },
  ConfigMap: { validate: validateConfigMap, validateUpdate: validateConfigMapUpdate },
  Secret: { defaults: defaultSecret, validate: validateSecret, validateUpdate: validateSecretUpdate },
  ServiceAccount: {
    prepareCreate: (o) => {
      if (items(o.secrets).length === 0) delete o.secrets;
    },
  },
  Node: {
    defaults: defaultNode,
    prepareUpdate: (o, old) => assign(o, 'status', clone(old.status)),
    validate: check.validateNode,
    validateUpdate: check.validateNodeUpdate,
  },
  PersistentVolume: {
    status: { phase: 'Pending' },
    defaults: defaultVolume,
    prepareCreate: (o, context) => {
      o.status.lastPhaseTransitionTime = `${new Date(context.now).toISOString().slice(0, 19)}Z`;
    },
    prepareSubresource: (name, o, old, context) => {
      if (name !== 'status' || o.status?.phase === old.status?.phase) return;
      const given = o.status?.lastPhaseTransitionTime;
      if (!given || given === old.status?.lastPhaseTransitionTime) {
        o.status.lastPhaseTransitionTime = `${new Date(context.now).toISOString().slice(0, 19)}Z`;
      }
    },
    validate: check.validatePersistentVolume,
    validateUpdate: check.validatePersistentVolumeUpdate,
  },
  PersistentVolumeClaim: {
    status: { phase: 'Pending' },
    defaults: defaultClaim,
    validate: check.validateClaim,
    validateUpdate: check.validateClaimUpdate,
  },
  ResourceQuota: {
    status: {},
    defaults: (o) => {
      normalizeResourceList(ensure(o, 'spec').hard);
      normalizeResourceList(o.status?.hard);
      normalizeResourceList(o.status?.used);
    },
    validate: check.validateResourceQuota,
    validateUpdate: check.validateResourceQuotaUpdate,
  },
  LimitRange: {
    createOnUpdate: true,
    defaults: defaultLimitRange,
    validate: check.validateLimitRange,
    validateUpdate: check.validateLimitRange,
  },
  Endpoints: {
    createOnUpdate: true,
    defaults: defaultEndpoints,
    validate: check.validateEndpoints,
    validateUpdate: check.validateEndpoints,
  },
  Event: { createOnUpdate: true, defaults: defaultEvent, validate: check.validateEvent },
  ComponentStatus: {},
};
