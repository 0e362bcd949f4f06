/** Rules of the groups besides core and workloads: mostly defaults, one small function each. */
import { admissionKinds } from './admission-kinds.ts';
import { certificateKinds } from './certificate-kinds.ts';
import { type Any, clone, defaultEmpty, defaultTo, ensure, items } from './fields.ts';
import * as check from './group-validation.ts';
import type { KindRules } from './kind.ts';
import { normalizeQuantity, normalizeResourceList } from './resource-list.ts';

// ---- networking -----------------------------------------------------------------------------------------------

function defaultNetworkPolicy(object: Any): void {
  const spec = ensure(object, 'spec');
  ensure(spec, 'podSelector');
  for (const rule of [...items(spec.ingress), ...items(spec.egress)]) {
    for (const port of items(rule.ports)) defaultTo(port, { protocol: 'TCP' });
  }
  if (items(spec.policyTypes).length === 0) {
    spec.policyTypes = items(spec.egress).length ? ['Ingress', 'Egress'] : ['Ingress'];
  }
}

// ---- autoscaling ----------------------------------------------------------------------------------------------

const SCALE_UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
};
const SCALE_DOWN = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] };

function normalizeMetric(metric: Any): void {
  for (const name of ['resource', 'pods', 'object', 'external', 'containerResource']) {
    for (const holder of ['target', 'current']) {
      const values = metric?.[name]?.[holder];
      if (!values) continue;
      normalizeQuantity(values, 'value');
      normalizeQuantity(values, 'averageValue');
    }
  }
}

function defaultAutoscaler(object: Any): void {
  const spec = ensure(object, 'spec');
  defaultTo(spec, { minReplicas: 1 });
  const v1 = object.apiVersion === 'autoscaling/v1';
  // Counts and lists without omitempty, which differ between the versions.
  const status = ensure(object, 'status');
  defaultTo(status, v1 ? { currentReplicas: 0, desiredReplicas: 0 } : { desiredReplicas: 0, currentMetrics: null });
  if (!v1 && items(spec.metrics).length === 0) {
    const target = { type: 'Utilization', averageUtilization: 80 };
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
  }
  for (const metric of [...items(spec.metrics), ...items(object.status?.currentMetrics)]) normalizeMetric(metric);
  if (!spec.behavior) return;
  spec.behavior.scaleUp = { ...clone(SCALE_UP), ...spec.behavior.scaleUp };
  spec.behavior.scaleDown = { ...clone(SCALE_DOWN), ...spec.behavior.scaleDown };
  for (const rules of [spec.behavior.scaleUp, spec.behavior.scaleDown]) normalizeQuantity(rules, 'tolerance');
}

// ---- rbac -----------------------------------------------------------------------------------------------------

const RBAC = 'rbac.authorization.k8s.io';

function defaultBinding(object: Any): void {
  defaultEmpty(ensure(object, 'roleRef'), { apiGroup: RBAC });
  for (const subject of items(object.subjects)) {
    if (subject.kind === 'User' || subject.kind === 'Group') defaultEmpty(subject, { apiGroup: RBAC });
  }
}

const binding: KindRules = {
  createOnUpdate: true,
  defaults: defaultBinding,
  validate: check.validateBinding,
  validateUpdate: check.validateBindingUpdate,
};

/** `rules` has no omitempty: null where there are none. */
const role: KindRules = {
  createOnUpdate: true,
  defaults: (o) => defaultTo(o, { rules: null }),
  validate: check.validateRole,
  validateUpdate: check.validateRole,
};

// ---- storage --------------------------------------------------------------------------------------------------

const CSI_DRIVER = {
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  requiresRepublish: false,
  seLinuxMount: false,
};

function defaultCsiDriver(object: Any): void {
  const spec = ensure(object, 'spec');
  defaultTo(spec, CSI_DRIVER);
  if (items(spec.volumeLifecycleModes).length === 0) spec.volumeLifecycleModes = ['Persistent'];
}

// ---- flow control ---------------------------------------------------------------------------------------------

function defaultPriorityLevel(object: Any): void {
  const { exempt, limited } = ensure(object, 'spec');
  if (exempt) defaultTo(exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 });
  if (!limited) return;
  defaultTo(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 });
  const queuing = limited.limitResponse?.queuing;
  if (queuing) defaultEmpty(queuing, { handSize: 8, queues: 64, queueLengthLimit: 50 });
}

function defaultDeviceRequests(spec: Any): void {
  for (const request of items(spec?.devices?.requests)) {
    for (const one of [request.exactly, ...items(request.firstAvailable)]) {
      if (!one) continue;
      defaultEmpty(one, { allocationMode: 'ExactCount' });
      if (one.allocationMode === 'ExactCount') defaultEmpty(one, { count: 1 });
    }
  }
}

export const groupKinds: Record<string, Record<string, KindRules>> = {
  'admissionregistration.k8s.io': admissionKinds,
  'certificates.k8s.io': certificateKinds,
  'networking.k8s.io': {
    Ingress: {
      generation: true,
      status: { loadBalancer: {} },
      validate: check.validateIngress,
      validateUpdate: check.validateIngress,
    },
    IngressClass: {
      generation: true,
      defaults: (o) => o.spec?.parameters && defaultTo(o.spec.parameters, { scope: 'Cluster' }),
      validate: check.validateIngressClass,
      validateUpdate: check.validateIngressClassUpdate,
    },
    NetworkPolicy: {
      generation: true,
      defaults: defaultNetworkPolicy,
      validate: check.validateNetworkPolicy,
      validateUpdate: check.validateNetworkPolicy,
    },
    ServiceCIDR: { status: {} },
    IPAddress: {},
  },
  'discovery.k8s.io': {
    EndpointSlice: {
      generation: true,
      defaults: (o) => {
        for (const port of items(o.ports)) defaultTo(port, { name: '', protocol: 'TCP' });
        for (const endpoint of items(o.endpoints)) ensure(endpoint, 'conditions');
        defaultTo(o, { endpoints: null, ports: null });
      },
      validate: check.validateEndpointSlice,
      validateUpdate: check.validateEndpointSliceUpdate,
    },
  },
  policy: {
    PodDisruptionBudget: {
      generation: true,
      requireResourceVersion: true,
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
      validate: check.validateDisruptionBudget,
      validateUpdate: check.validateDisruptionBudget,
    },
    Eviction: {},
  },
  autoscaling: {
    HorizontalPodAutoscaler: {
      status: { desiredReplicas: 0 },
      defaults: defaultAutoscaler,
      validate: check.validateAutoscaler,
      validateUpdate: check.validateAutoscaler,
    },
  },
  [RBAC]: { Role: role, ClusterRole: role, RoleBinding: binding, ClusterRoleBinding: binding },
  'storage.k8s.io': {
    StorageClass: {
      defaults: (o) => defaultTo(o, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
      validate: check.validateStorageClass,
      validateUpdate: check.validateStorageClassUpdate,
    },
    VolumeAttributesClass: {
      validate: check.validateVolumeAttributesClass,
      validateUpdate: check.validateVolumeAttributesClassUpdate,
    },
    CSIDriver: { requireResourceVersion: true, defaults: defaultCsiDriver },
    CSINode: { requireResourceVersion: true, defaults: (o) => defaultTo(ensure(o, 'spec'), { drivers: null }) },
    CSIStorageCapacity: {
      requireResourceVersion: true,
      defaults: (o) => {
        normalizeQuantity(o, 'capacity');
        normalizeQuantity(o, 'maximumVolumeSize');
      },
    },
    VolumeAttachment: { requireResourceVersion: true, status: { attached: false } },
  },
  'scheduling.k8s.io': {
    PriorityClass: {
      generation: true,
      defaults: (o) => {
        defaultTo(o, { value: 0, preemptionPolicy: 'PreemptLowerPriority' });
      },
      validate: check.validatePriorityClass,
      validateUpdate: check.validatePriorityClassUpdate,
    },
  },
  'coordination.k8s.io': {
    Lease: {
      createOnUpdate: true,
      requireResourceVersion: true,
      defaults: (o) => ensure(o, 'spec'),
      validate: check.validateLease,
      validateUpdate: check.validateLease,
    },
    LeaseCandidate: { createOnUpdate: true, requireResourceVersion: true },
  },
  'events.k8s.io': {
    Event: {
      createOnUpdate: true,
      defaults: (o) => {
        defaultTo(o, { regarding: {}, deprecatedSource: {}, deprecatedFirstTimestamp: null });
        defaultTo(o, { deprecatedLastTimestamp: null, eventTime: null });
      },
      validate: check.validateNewEvent,
    },
  },
  'node.k8s.io': {
    RuntimeClass: {
      createOnUpdate: true,
      requireResourceVersion: true,
      defaults: (o) => normalizeResourceList(o.overhead?.podFixed),
      validate: check.validateRuntimeClass,
      validateUpdate: check.validateRuntimeClassUpdate,
    },
  },
  'flowcontrol.apiserver.k8s.io': {
    FlowSchema: {
      generation: true,
      status: {},
      defaults: (o) => defaultEmpty(ensure(o, 'spec'), { matchingPrecedence: 1000 }),
    },
    PriorityLevelConfiguration: { generation: true, status: {}, defaults: defaultPriorityLevel },
  },
  'resource.k8s.io': {
    DeviceClass: { generation: true, defaults: (o) => ensure(o, 'spec') },
    ResourceClaim: { status: {}, defaults: (o) => defaultDeviceRequests(ensure(o, 'spec')) },
    ResourceClaimTemplate: { defaults: (o) => defaultDeviceRequests(o.spec?.spec) },
    ResourceSlice: { generation: true },
    DeviceTaintRule: { generation: true },
  },
  'apiregistration.k8s.io': { APIService: { status: {} } },
};
