/**
 * Objects with one mistake each, as users make them: a good object of a kind, and what is put at one place of it
 * (undefined: taken away). What a real kube-apiserver says of each is in refusals.json (record-refusals.ts).
 */

// biome-ignore lint/suspicious/noExplicitAny: objects, good and bad
type Any = any;

interface Kind {
  apiVersion: string;
  plural: string;
  clusterScoped?: true;
  good: Any;
}

const labels = { app: 'web' };
const container = { name: 'c', image: 'nginx' };
const podSpec = { containers: [container] };
const template = { metadata: { labels }, spec: podSpec };
const jobTemplate = { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } };
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const backend = { service: { name: 's', port: { number: 80 } } };

const KINDS: Record<string, Kind> = {
  Pod: { apiVersion: 'v1', plural: 'pods', good: { spec: podSpec } },
  Deployment: {
    apiVersion: 'apps/v1',
    plural: 'deployments',
    good: { spec: { replicas: 1, selector: { matchLabels: labels }, template } },
  },
  StatefulSet: {
    apiVersion: 'apps/v1',
    plural: 'statefulsets',
    good: { spec: { serviceName: 's', selector: { matchLabels: labels }, template } },
  },
  DaemonSet: {
    apiVersion: 'apps/v1',
    plural: 'daemonsets',
    good: { spec: { selector: { matchLabels: labels }, template } },
  },
  Job: { apiVersion: 'batch/v1', plural: 'jobs', good: jobTemplate },
  CronJob: { apiVersion: 'batch/v1', plural: 'cronjobs', good: { spec: { schedule: '* * * * *', jobTemplate } } },
  Service: { apiVersion: 'v1', plural: 'services', good: { spec: { selector: labels, ports: [{ port: 80 }] } } },
  Ingress: {
    apiVersion: 'networking.k8s.io/v1',
    plural: 'ingresses',
    good: { spec: { rules: [{ host: 'a.example', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] } },
  },
  NetworkPolicy: {
    apiVersion: 'networking.k8s.io/v1',
    plural: 'networkpolicies',
    good: { spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] } },
  },
  PersistentVolumeClaim: {
    apiVersion: 'v1',
    plural: 'persistentvolumeclaims',
    good: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  },
  PersistentVolume: {
    apiVersion: 'v1',
    plural: 'persistentvolumes',
    clusterScoped: true,
    good: { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } } },
  },
  ConfigMap: { apiVersion: 'v1', plural: 'configmaps', good: { data: { a: '1' } } },
  Secret: { apiVersion: 'v1', plural: 'secrets', good: { data: { a: 'MQ==' } } },
  Role: { apiVersion: 'rbac.authorization.k8s.io/v1', plural: 'roles', good: { rules } },
  ClusterRole: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    plural: 'clusterroles',
    clusterScoped: true,
    good: { rules },
  },
  RoleBinding: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    plural: 'rolebindings',
    good: {
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'refusals' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
    },
  },
  HorizontalPodAutoscaler: {
    apiVersion: 'autoscaling/v2',
    plural: 'horizontalpodautoscalers',
    good: {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    },
  },
  PodDisruptionBudget: {
    apiVersion: 'policy/v1',
    plural: 'poddisruptionbudgets',
    good: { spec: { minAvailable: 1, selector: { matchLabels: labels } } },
  },
  ServiceAccount: { apiVersion: 'v1', plural: 'serviceaccounts', good: {} },
  Namespace: { apiVersion: 'v1', plural: 'namespaces', clusterScoped: true, good: {} },
  ResourceQuota: { apiVersion: 'v1', plural: 'resourcequotas', good: { spec: { hard: { pods: '1' } } } },
  LimitRange: {
    apiVersion: 'v1',
    plural: 'limitranges',
    good: { spec: { limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '100m' } }] } },
  },
  StorageClass: {
    apiVersion: 'storage.k8s.io/v1',
    plural: 'storageclasses',
    clusterScoped: true,
    good: { provisioner: 'example.com/disk' },
  },
  PriorityClass: {
    apiVersion: 'scheduling.k8s.io/v1',
    plural: 'priorityclasses',
    clusterScoped: true,
    good: { value: 10 },
  },
  Lease: { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', good: { spec: { leaseDurationSeconds: 10 } } },
  EndpointSlice: {
    apiVersion: 'discovery.k8s.io/v1',
    plural: 'endpointslices',
    good: { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] },
  },
  IngressClass: {
    apiVersion: 'networking.k8s.io/v1',
    plural: 'ingressclasses',
    clusterScoped: true,
    good: { spec: { controller: 'example.com/ingress' } },
  },
};

const C = 'spec.containers.0';
const T = 'spec.template.spec';
const RULE = 'spec.rules.0';

/** [kind, place, what is there instead]. */
const MISTAKES: [kind: string, at: string, value: unknown][] = [
  ['Pod', 'metadata.name', 'Upper'],
  ['Pod', 'metadata.name', undefined],
  ['Pod', 'metadata.name', 'a'.repeat(254)],
  ['Pod', 'metadata.namespace', 'other'],
  ['Pod', 'metadata.labels', { 'a b': 'c' }],
  ['Pod', 'metadata.labels', { a: '-b' }],
  ['Pod', 'metadata.labels', { '/a': 'b' }],
  ['Pod', 'metadata.annotations', { 'a/b/c': '' }],
  ['Pod', 'metadata.finalizers', ['short']],
  ['Pod', 'metadata.ownerReferences', [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: '' }]],
  ['Pod', 'spec.containers', []],
  ['Pod', 'spec.containers', undefined],
  ['Pod', `${C}.name`, ''],
  ['Pod', `${C}.name`, 'A_b'],
  ['Pod', `${C}.image`, undefined],
  ['Pod', `${C}.image`, ' nginx'],
  ['Pod', 'spec.containers', [container, container]],
  ['Pod', `${C}.imagePullPolicy`, 'Sometimes'],
  ['Pod', `${C}.ports`, [{ containerPort: 0 }]],
  ['Pod', `${C}.ports`, [{ containerPort: 70000 }]],
  ['Pod', `${C}.ports`, [{ containerPort: 80, protocol: 'HTTP' }]],
  ['Pod', `${C}.ports`, [{ containerPort: 80, name: 'much-too-long-name' }]],
  ['Pod', `${C}.ports`, [{ containerPort: 80, name: '80' }]],
  [
    'Pod',
    `${C}.ports`,
    [
      { containerPort: 80, name: 'a' },
      { containerPort: 81, name: 'a' },
    ],
  ],
  ['Pod', `${C}.env`, [{ name: '' }]],
  ['Pod', `${C}.env`, [{ name: 'a=b' }]],
  ['Pod', `${C}.env`, [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }]],
  ['Pod', `${C}.env`, [{ name: 'A', valueFrom: {} }]],
  ['Pod', `${C}.env`, [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.nothing' } } }]],
  ['Pod', `${C}.env`, [{ name: 'A', valueFrom: { configMapKeyRef: { name: '', key: 'a b' } } }]],
  ['Pod', `${C}.envFrom`, [{}]],
  ['Pod', `${C}.volumeMounts`, [{ name: 'v', mountPath: '/a' }]],
  ['Pod', `${C}.volumeMounts`, [{ name: '', mountPath: '' }]],
  ['Pod', 'spec.volumes', [{ name: 'V', emptyDir: {} }]],
  ['Pod', 'spec.volumes', [{ name: 'v', emptyDir: {}, hostPath: { path: '/' } }]],
  [
    'Pod',
    'spec.volumes',
    [
      { name: 'v', emptyDir: {} },
      { name: 'v', emptyDir: {} },
    ],
  ],
  ['Pod', 'spec.volumes', [{ name: 'v', hostPath: { path: '' } }]],
  ['Pod', 'spec.volumes', [{ name: 'v', hostPath: { path: '/a', type: 'Folder' } }]],
  ['Pod', 'spec.volumes', [{ name: 'v', configMap: { name: '' } }]],
  ['Pod', 'spec.volumes', [{ name: 'v', secret: { secretName: 's', defaultMode: 1000 } }]],
  ['Pod', 'spec.volumes', [{ name: 'v', persistentVolumeClaim: { claimName: '' } }]],
  ['Pod', `${C}.resources`, { requests: { cpu: '2' }, limits: { cpu: '1' } }],
  ['Pod', `${C}.resources`, { requests: { cpu: '-1' } }],
  ['Pod', `${C}.resources`, { requests: { disk: '1' } }],
  ['Pod', `${C}.resources`, { limits: { 'example.com/gpu': '500m' } }],
  ['Pod', `${C}.livenessProbe`, {}],
  ['Pod', `${C}.livenessProbe`, { httpGet: { port: 0 } }],
  ['Pod', `${C}.livenessProbe`, { httpGet: { port: 80 }, exec: { command: ['a'] } }],
  ['Pod', `${C}.livenessProbe`, { exec: { command: [] } }],
  ['Pod', `${C}.livenessProbe`, { tcpSocket: { port: 80 }, successThreshold: 2 }],
  ['Pod', `${C}.livenessProbe`, { tcpSocket: { port: 80 }, periodSeconds: -1 }],
  ['Pod', `${C}.lifecycle`, { preStop: {} }],
  ['Pod', `${C}.securityContext`, { capabilities: { add: ['CAP_SYS_ADMIN'] }, allowPrivilegeEscalation: false }],
  ['Pod', `${C}.securityContext`, { runAsUser: -1 }],
  ['Pod', `${C}.terminationMessagePolicy`, 'Log'],
  ['Pod', 'spec.restartPolicy', 'Sometimes'],
  ['Pod', 'spec.dnsPolicy', 'Mine'],
  ['Pod', 'spec.dnsPolicy', 'None'],
  ['Pod', 'spec.activeDeadlineSeconds', 0],
  ['Pod', 'spec.terminationGracePeriodSeconds', -1],
  ['Pod', 'spec.nodeSelector', { 'a b': 'c' }],
  ['Pod', 'spec.serviceAccountName', 'A'],
  ['Pod', 'spec.hostname', 'A.b'],
  ['Pod', 'spec.subdomain', '-'],
  ['Pod', 'spec.tolerations', [{ operator: 'Exists', key: 'a', value: 'b' }]],
  ['Pod', 'spec.tolerations', [{ operator: 'Equal', value: 'b' }]],
  ['Pod', 'spec.tolerations', [{ key: 'a', effect: 'Never' }]],
  ['Pod', 'spec.tolerations', [{ key: 'a', operator: 'Exists', tolerationSeconds: 1, effect: 'NoSchedule' }]],
  ['Pod', 'spec.topologySpreadConstraints', [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'x' }]],
  [
    'Pod',
    'spec.affinity',
    {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }],
        },
      },
    },
  ],
  [
    'Pod',
    'spec.affinity',
    { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {} }] } },
  ],
  ['Pod', 'spec.hostAliases', [{ ip: 'x', hostnames: ['A_'] }]],
  ['Pod', 'spec.imagePullSecrets', [{ name: '' }]],
  ['Pod', 'spec.initContainers', [{ name: 'c', image: 'x' }]],
  ['Pod', 'spec.initContainers', [{ name: 'i', image: 'x', livenessProbe: { exec: { command: ['a'] } } }]],
  ['Pod', 'spec.securityContext', { fsGroupChangePolicy: 'x' }],
  ['Pod', 'spec.securityContext', { supplementalGroups: [-1] }],
  ['Pod', 'spec.os', { name: 'plan9' }],
  ['Pod', 'spec.os', { name: '' }],
  ['Pod', 'spec.dnsConfig', { nameservers: ['x'], searches: ['A_'], options: [{}] }],
  ['Pod', 'spec.readinessGates', [{ conditionType: 'a b' }]],
  ['Pod', 'spec.preemptionPolicy', 'x'],
  ['Pod', 'spec.schedulerName', ''],
  ['Pod', 'spec.hostNetwork', 'yes'],
  ['Pod', 'spec.ephemeralContainers', [{ name: 'e', image: 'x' }]],
  ['Deployment', 'spec.selector', undefined],
  ['Deployment', 'spec.selector', {}],
  ['Deployment', 'spec.selector.matchLabels', { app: 'other' }],
  ['Deployment', 'spec.selector.matchExpressions', [{ key: 'a', operator: 'Is' }]],
  ['Deployment', 'spec.selector.matchExpressions', [{ key: 'a', operator: 'In' }]],
  ['Deployment', 'spec.replicas', -1],
  ['Deployment', 'spec.minReadySeconds', -1],
  ['Deployment', 'spec.progressDeadlineSeconds', 0],
  ['Deployment', 'spec.revisionHistoryLimit', -1],
  ['Deployment', 'spec.strategy', { type: 'Slow' }],
  ['Deployment', 'spec.strategy', { type: 'Recreate', rollingUpdate: { maxSurge: 1 } }],
  ['Deployment', 'spec.strategy', { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }],
  ['Deployment', 'spec.strategy', { rollingUpdate: { maxUnavailable: '150%' } }],
  ['Deployment', 'spec.strategy', { rollingUpdate: { maxSurge: 'many' } }],
  ['Deployment', `${T}.restartPolicy`, 'Never'],
  ['Deployment', `${T}.containers`, []],
  ['Deployment', 'spec.template', undefined],
  ['StatefulSet', 'spec.serviceName', 'A_'],
  ['StatefulSet', 'spec.podManagementPolicy', 'x'],
  ['StatefulSet', 'spec.updateStrategy', { type: 'x' }],
  ['StatefulSet', 'spec.updateStrategy', { type: 'RollingUpdate', rollingUpdate: { partition: -1 } }],
  ['StatefulSet', 'spec.replicas', -1],
  ['StatefulSet', `${T}.activeDeadlineSeconds`, 5],
  ['StatefulSet', 'metadata.name', 'a.b'],
  ['StatefulSet', 'spec.selector.matchExpressions', [{ key: 'a', operator: 'Is' }]],
  ['DaemonSet', 'spec.selector.matchExpressions', [{ key: 'a b', operator: 'Exists' }]],
  ['DaemonSet', 'spec.updateStrategy', { type: 'x' }],
  ['DaemonSet', 'spec.updateStrategy', { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } }],
  ['DaemonSet', `${T}.restartPolicy`, 'OnFailure'],
  ['Job', `${T}.restartPolicy`, 'Always'],
  ['Job', 'spec.parallelism', -1],
  ['Job', 'spec.completions', -1],
  ['Job', 'spec.backoffLimit', -1],
  ['Job', 'spec.activeDeadlineSeconds', -1],
  ['Job', 'spec.ttlSecondsAfterFinished', -1],
  ['Job', 'spec.completionMode', 'x'],
  ['Job', 'spec.completionMode', 'Indexed'],
  ['Job', 'spec.selector', { matchLabels: labels }],
  ['Job', 'spec.podReplacementPolicy', 'x'],
  ['Job', 'spec.podFailurePolicy', { rules: [{ action: 'x' }] }],
  [
    'Job',
    'spec.podFailurePolicy',
    { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', containerName: 'x', values: [3, 0, 3] } }] },
  ],
  [
    'Job',
    'spec.podFailurePolicy',
    { rules: [{ action: 'FailIndex', onPodConditions: [{ type: 'a b', status: 'x' }], onExitCodes: {} }] },
  ],
  ['CronJob', 'spec.schedule', ''],
  ['CronJob', 'spec.schedule', 'often'],
  ['CronJob', 'spec.schedule', 'TZ=UTC * * * * *'],
  ['CronJob', 'spec.timeZone', 'Nowhere'],
  ['CronJob', 'spec.concurrencyPolicy', 'x'],
  ['CronJob', 'spec.startingDeadlineSeconds', -1],
  ['CronJob', 'spec.successfulJobsHistoryLimit', -1],
  ['CronJob', 'spec.jobTemplate.spec.template.spec.restartPolicy', 'Always'],
  ['CronJob', 'metadata.name', 'a'.repeat(53)],
  ['Service', 'metadata.name', '1a'],
  ['Service', 'spec.ports', undefined],
  ['Service', 'spec.ports', [{ port: 0 }]],
  ['Service', 'spec.ports', [{ port: 80 }, { port: 81 }]],
  [
    'Service',
    'spec.ports',
    [
      { name: 'a', port: 80 },
      { name: 'a', port: 81 },
    ],
  ],
  [
    'Service',
    'spec.ports',
    [
      { name: 'a', port: 80 },
      { name: 'b', port: 80 },
    ],
  ],
  ['Service', 'spec.ports', [{ port: 80, protocol: 'HTTP' }]],
  ['Service', 'spec.ports', [{ port: 80, targetPort: 'A' }]],
  ['Service', 'spec.ports', [{ port: 80, targetPort: 0 }]],
  ['Service', 'spec.ports', [{ port: 80, nodePort: 30000 }]],
  ['Service', 'spec.type', 'x'],
  ['Service', 'spec.type', 'ExternalName'],
  ['Service', 'spec.clusterIP', 'x'],
  ['Service', 'spec.clusterIP', '8.8.8.8'],
  ['Service', 'spec.sessionAffinity', 'x'],
  ['Service', 'spec.externalTrafficPolicy', 'Local'],
  ['Service', 'spec.externalIPs', ['x']],
  ['Service', 'spec.selector', { 'a b': '' }],
  ['Service', 'spec.ipFamilies', ['IPv5']],
  ['Service', 'spec.loadBalancerSourceRanges', ['x']],
  ['Ingress', `${RULE}.host`, 'A.example'],
  ['Ingress', `${RULE}.host`, '10.0.0.1'],
  ['Ingress', `${RULE}.host`, '*.*.example'],
  ['Ingress', `${RULE}.http.paths`, []],
  ['Ingress', `${RULE}.http.paths.0.pathType`, undefined],
  ['Ingress', `${RULE}.http.paths.0.pathType`, 'x'],
  ['Ingress', `${RULE}.http.paths.0.path`, 'a'],
  ['Ingress', `${RULE}.http.paths.0.path`, '/a//b'],
  ['Ingress', `${RULE}.http.paths.0.backend`, {}],
  ['Ingress', `${RULE}.http.paths.0.backend.service.name`, 'A'],
  ['Ingress', `${RULE}.http.paths.0.backend.service.port`, {}],
  ['Ingress', `${RULE}.http.paths.0.backend.service.port`, { name: 'a', number: 1 }],
  ['Ingress', 'spec', {}],
  ['Ingress', 'spec.tls', [{ hosts: ['A'], secretName: 'B' }]],
  ['Ingress', 'spec.ingressClassName', 'A'],
  ['NetworkPolicy', 'spec.ingress.0.ports', [{ port: 0 }]],
  ['NetworkPolicy', 'spec.ingress.0.ports', [{ port: 80, endPort: 70 }]],
  ['NetworkPolicy', 'spec.ingress.0.ports', [{ port: 80, protocol: 'x' }]],
  ['NetworkPolicy', 'spec.ingress.0.from', [{}]],
  ['NetworkPolicy', 'spec.ingress.0.from', [{ ipBlock: { cidr: 'x' } }]],
  ['NetworkPolicy', 'spec.ingress.0.from', [{ ipBlock: { cidr: '10.0.0.0/24', except: ['10.1.0.0/16'] } }]],
  ['NetworkPolicy', 'spec.ingress.0.from', [{ ipBlock: { cidr: '10.0.0.0/24' }, podSelector: {} }]],
  ['NetworkPolicy', 'spec.policyTypes', ['x']],
  ['PersistentVolumeClaim', 'spec.accessModes', []],
  ['PersistentVolumeClaim', 'spec.accessModes', ['x']],
  ['PersistentVolumeClaim', 'spec.accessModes', ['ReadWriteOncePod', 'ReadWriteOnce']],
  ['PersistentVolumeClaim', 'spec.resources', {}],
  ['PersistentVolumeClaim', 'spec.resources', { requests: { storage: '0' } }],
  ['PersistentVolumeClaim', 'spec.volumeMode', 'x'],
  ['PersistentVolumeClaim', 'spec.storageClassName', 'A'],
  ['PersistentVolumeClaim', 'spec.dataSource', { kind: '', name: '' }],
  ['PersistentVolume', 'spec.capacity', undefined],
  ['PersistentVolume', 'spec.capacity', { storage: '-1' }],
  ['PersistentVolume', 'spec.hostPath', undefined],
  ['PersistentVolume', 'spec.nfs', { server: '', path: 'x' }],
  ['PersistentVolume', 'spec.persistentVolumeReclaimPolicy', 'x'],
  ['PersistentVolume', 'spec.hostPath', { path: '/a/../b' }],
  ['ConfigMap', 'data', { 'a b': '' }],
  ['ConfigMap', 'data', { '..': '' }],
  ['ConfigMap', 'binaryData', { a: 'MQ==' }],
  ['ConfigMap', 'data', { a: 'x'.repeat(1024 * 1024 + 1) }],
  ['Secret', 'data', { 'a b': '' }],
  ['Secret', 'type', 'kubernetes.io/tls'],
  ['Secret', 'type', 'kubernetes.io/dockerconfigjson'],
  ['Secret', 'type', 'kubernetes.io/basic-auth'],
  ['Secret', 'type', 'kubernetes.io/ssh-auth'],
  ['Secret', 'type', 'kubernetes.io/service-account-token'],
  ['Role', 'rules.0.verbs', []],
  ['Role', 'rules.0.apiGroups', []],
  ['Role', 'rules.0.resources', []],
  ['Role', 'rules.0.nonResourceURLs', ['/a']],
  ['ClusterRole', 'rules.0.nonResourceURLs', ['/a']],
  ['ClusterRole', 'rules', [{ verbs: ['get'], nonResourceURLs: ['a*b'] }]],
  ['RoleBinding', 'roleRef.kind', 'x'],
  ['RoleBinding', 'roleRef.name', ''],
  ['RoleBinding', 'roleRef.apiGroup', 'x'],
  ['RoleBinding', 'subjects', [{ kind: 'ServiceAccount', name: 'a' }]],
  ['RoleBinding', 'subjects', [{ kind: 'x', name: 'a' }]],
  ['RoleBinding', 'subjects', [{ kind: 'User', name: '' }]],
  ['HorizontalPodAutoscaler', 'spec.maxReplicas', 0],
  ['HorizontalPodAutoscaler', 'spec.minReplicas', 5],
  ['HorizontalPodAutoscaler', 'spec.minReplicas', 0],
  ['HorizontalPodAutoscaler', 'spec.scaleTargetRef.kind', ''],
  ['HorizontalPodAutoscaler', 'spec.scaleTargetRef.name', 'a/b'],
  ['HorizontalPodAutoscaler', 'spec.metrics.0.type', 'x'],
  ['HorizontalPodAutoscaler', 'spec.metrics.0.resource', undefined],
  ['HorizontalPodAutoscaler', 'spec.metrics.0.resource.target', { type: 'Utilization' }],
  ['HorizontalPodAutoscaler', 'spec.behavior', { scaleUp: { stabilizationWindowSeconds: -1 } }],
  [
    'HorizontalPodAutoscaler',
    'spec.behavior',
    {
      scaleDown: {
        stabilizationWindowSeconds: 4000,
        selectPolicy: 'x',
        policies: [{ type: 'x', value: 0, periodSeconds: 2000 }],
      },
    },
  ],
  ['PodDisruptionBudget', 'spec.maxUnavailable', 1],
  ['PodDisruptionBudget', 'spec.minAvailable', -1],
  ['PodDisruptionBudget', 'spec.minAvailable', '150%'],
  ['PodDisruptionBudget', 'spec.minAvailable', 'x'],
  ['PodDisruptionBudget', 'spec.selector', { matchExpressions: [{ key: '', operator: 'Exists' }] }],
  ['ServiceAccount', 'metadata.name', 'A'],
  ['Namespace', 'metadata.name', 'a.b'],
  ['ResourceQuota', 'spec.hard', { pods: '-1' }],
  ['ResourceQuota', 'spec.hard', { things: '1' }],
  ['ResourceQuota', 'spec.hard', { pods: '1500m' }],
  ['ResourceQuota', 'spec.scopes', ['x']],
  ['ResourceQuota', 'spec.scopes', ['BestEffort', 'NotBestEffort']],
  ['LimitRange', 'spec.limits.0.min.cpu', '2'],
  ['LimitRange', 'spec.limits.0.default', { cpu: '5' }],
  ['LimitRange', 'spec.limits.0.type', 'x y'],
  ['LimitRange', 'spec.limits.0.maxLimitRequestRatio', { cpu: '0.5' }],
  ['StorageClass', 'provisioner', ''],
  ['StorageClass', 'provisioner', 'A B'],
  ['StorageClass', 'reclaimPolicy', 'x'],
  ['StorageClass', 'volumeBindingMode', 'x'],
  ['PriorityClass', 'value', 2_000_000_000],
  ['PriorityClass', 'preemptionPolicy', 'x'],
  ['PriorityClass', 'metadata.name', 'system-x'],
  ['Lease', 'spec.leaseDurationSeconds', 0],
  ['Lease', 'spec.leaseTransitions', -1],
  ['EndpointSlice', 'addressType', 'x'],
  ['EndpointSlice', 'addressType', undefined],
  ['EndpointSlice', 'endpoints', [{ addresses: ['x'] }]],
  ['EndpointSlice', 'endpoints', [{ addresses: [] }]],
  ['EndpointSlice', 'endpoints', [{ addresses: ['127.0.0.1'] }]],
  ['EndpointSlice', 'ports', [{ port: 80 }, { port: 81 }]],
  ['IngressClass', 'spec.controller', ''],
  ['IngressClass', 'spec.controller', 'x'],
  ['IngressClass', 'spec.parameters', { kind: 'K', name: 'n', scope: 'x' }],
];

export interface Refusal {
  name: string;
  path: string;
  body: Any;
}

export const NAMESPACE = 'refusals';

export const refusals: Refusal[] = MISTAKES.map(([kind, at, value]) => {
  const { apiVersion, plural, clusterScoped, good } = KINDS[kind] as Kind;
  const body = { apiVersion, kind, metadata: { name: 'wrong' }, ...structuredClone(good) };
  put(body, at.split('.'), value);
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const shown = JSON.stringify(value) ?? 'nothing';
  return {
    name: `${kind} ${at}: ${shown.length > 200 ? `${shown.slice(0, 60)}… (${shown.length})` : shown}`,
    path: clusterScoped ? `${root}/${plural}` : `${root}/namespaces/${NAMESPACE}/${plural}`,
    body,
  };
});

function put(target: Any, [step = '', ...rest]: string[], value: unknown): void {
  if (rest.length > 0) {
    target[step] ??= {};
    put(target[step], rest, value);
  } else if (value === undefined) delete target[step];
  else target[step] = value;
}

/** Generated ids and versions differ from run to run. */
export function withoutIds<T>(answer: T): T {
  const text = JSON.stringify(answer)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/in record \(\d+\)/g, 'in record (<version>)');
  return JSON.parse(text) as T;
}
