/**
 * Requests sent to a real kube-apiserver by `record.ts` and replayed here against our strategies. A case is one create,
 * and optionally one update of what the create returned.
 */

// biome-ignore lint/suspicious/noExplicitAny: request bodies, good and bad
type Body = any;

export interface Case {
  name: string;
  group: string;
  version: string;
  plural: string;
  namespaced: boolean;
  body: Body;
  /** Changes made to the created object before it is sent back with PUT. */
  update?: (object: Body) => void;
  /** Put through `/status` before the object is printed. */
  status?: Body;
}

const meta = (name: string, more: object = {}) => ({ name, ...more });
const labels = { app: 'web' };
const container = (more: object = {}) => ({ name: 'c', image: 'nginx:1.25', ...more });
const template = (spec: object = {}, meta: object = { labels }) => ({
  metadata: meta,
  spec: { containers: [container()], ...spec },
});
const selector = { matchLabels: labels };

const resource =
  (group: string, version: string, kind: string, plural: string, namespaced = true) =>
  (name: string, rest: object, update?: (object: Body) => void): Case => ({
    name: `${group === 'events.k8s.io' || (group === 'autoscaling' && version === 'v1') ? `${group}/${version} ` : ''}${kind} ${name}`,
    group,
    version,
    plural,
    namespaced,
    body: {
      apiVersion: group ? `${group}/${version}` : version,
      kind,
      metadata: meta(name.toLowerCase().replace(/[^a-z0-9]+/g, '-')),
      ...rest,
    },
    update,
  });

const pod = resource('', 'v1', 'Pod', 'pods');
const service = resource('', 'v1', 'Service', 'services');
const configMap = resource('', 'v1', 'ConfigMap', 'configmaps');
const secret = resource('', 'v1', 'Secret', 'secrets');
const namespace = resource('', 'v1', 'Namespace', 'namespaces', false);
const node = resource('', 'v1', 'Node', 'nodes', false);
const claim = resource('', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
const volume = resource('', 'v1', 'PersistentVolume', 'persistentvolumes', false);
const quota = resource('', 'v1', 'ResourceQuota', 'resourcequotas');
const limitRange = resource('', 'v1', 'LimitRange', 'limitranges');
const endpoints = resource('', 'v1', 'Endpoints', 'endpoints');
const event = resource('', 'v1', 'Event', 'events');
const account = resource('', 'v1', 'ServiceAccount', 'serviceaccounts');
const controller = resource('', 'v1', 'ReplicationController', 'replicationcontrollers');
const podTemplate = resource('', 'v1', 'PodTemplate', 'podtemplates');
const deployment = resource('apps', 'v1', 'Deployment', 'deployments');
const replicaSet = resource('apps', 'v1', 'ReplicaSet', 'replicasets');
const statefulSet = resource('apps', 'v1', 'StatefulSet', 'statefulsets');
const daemonSet = resource('apps', 'v1', 'DaemonSet', 'daemonsets');
const revision = resource('apps', 'v1', 'ControllerRevision', 'controllerrevisions');
const job = resource('batch', 'v1', 'Job', 'jobs');
const cronJob = resource('batch', 'v1', 'CronJob', 'cronjobs');
const ingress = resource('networking.k8s.io', 'v1', 'Ingress', 'ingresses');
const ingressClass = resource('networking.k8s.io', 'v1', 'IngressClass', 'ingressclasses', false);
const networkPolicy = resource('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies');
const slice = resource('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices');
const autoscaler = resource('autoscaling', 'v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers');
const autoscalerV1 = resource('autoscaling', 'v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers');
const newEvent = resource('events.k8s.io', 'v1', 'Event', 'events');
const budget = resource('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets');
const role = resource('rbac.authorization.k8s.io', 'v1', 'Role', 'roles');
const clusterRole = resource('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles', false);
const binding = resource('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings');
const clusterBinding = resource('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', 'clusterrolebindings', false);
const storageClass = resource('storage.k8s.io', 'v1', 'StorageClass', 'storageclasses', false);
const csiDriver = resource('storage.k8s.io', 'v1', 'CSIDriver', 'csidrivers', false);
const csiNode = resource('storage.k8s.io', 'v1', 'CSINode', 'csinodes', false);
const priorityClass = resource('scheduling.k8s.io', 'v1', 'PriorityClass', 'priorityclasses', false);
const lease = resource('coordination.k8s.io', 'v1', 'Lease', 'leases');
const runtimeClass = resource('node.k8s.io', 'v1', 'RuntimeClass', 'runtimeclasses', false);
const validating = resource(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  false,
);
const mutating = resource(
  'admissionregistration.k8s.io',
  'v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  false,
);
const policy = resource(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
  false,
);
const policyBinding = resource(
  'admissionregistration.k8s.io',
  'v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
  false,
);
const flowSchema = resource('flowcontrol.apiserver.k8s.io', 'v1', 'FlowSchema', 'flowschemas', false);
const priorityLevel = resource(
  'flowcontrol.apiserver.k8s.io',
  'v1',
  'PriorityLevelConfiguration',
  'prioritylevelconfigurations',
  false,
);

const hook = (more: object = {}) => ({
  name: 'a.example.com',
  clientConfig: { service: { name: 's', namespace: 'oracle' } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  // Never matches, so that recording cannot break the server it records.
  namespaceSelector: { matchLabels: { never: 'there' } },
  ...more,
});
const backend = { service: { name: 'web', port: { number: 80 } } };

const withStatus = (one: Case, status: Body): Case => ({ ...one, status });
const time = '2024-01-02T03:04:05Z';
const terminated = { exitCode: 1, reason: 'Error', startedAt: time, finishedAt: time, containerID: 'x://y' };
const containerStatus = (state: object, more: object = {}) => ({
  name: 'c',
  image: 'nginx:1.25',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  lastState: {},
  ...more,
});
const onePod = (name: string) => pod(name, { spec: { containers: [container()] } });

/** Objects with a status, for what `kubectl get` makes of them. */
const printed: Case[] = [
  withStatus(onePod('print-running'), {
    phase: 'Running',
    podIP: '10.0.0.9',
    podIPs: [{ ip: '10.0.0.9' }],
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [
      containerStatus({ running: { startedAt: time } }, { ready: true, restartCount: 2, lastState: { terminated } }),
    ],
  }),
  withStatus(onePod('print-crash'), {
    phase: 'Running',
    containerStatuses: [containerStatus({ waiting: { reason: 'CrashLoopBackOff' } }, { restartCount: 3 })],
  }),
  withStatus(onePod('print-done'), {
    phase: 'Succeeded',
    containerStatuses: [containerStatus({ terminated: { ...terminated, exitCode: 0, reason: 'Completed' } })],
  }),
  withStatus(onePod('print-failed'), { phase: 'Failed', reason: 'Evicted', message: 'm' }),
  withStatus(
    pod('print-init', {
      spec: {
        initContainers: [
          { name: 'i', image: 'a' },
          { name: 'j', image: 'a', restartPolicy: 'Always' },
        ],
        containers: [container()],
        readinessGates: [{ conditionType: 'example.com/g' }],
      },
    }),
    {
      phase: 'Pending',
      initContainerStatuses: [{ ...containerStatus({ waiting: { reason: 'ErrImagePull' } }), name: 'i' }],
    },
  ),
  withStatus(deployment('print', { spec: { selector, template: template() } }), {
    replicas: 3,
    updatedReplicas: 2,
    readyReplicas: 1,
    availableReplicas: 1,
  }),
  withStatus(
    replicaSet('print', {
      spec: {
        selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'b'] }] },
        template: template(),
      },
    }),
    { replicas: 3, readyReplicas: 1 },
  ),
  withStatus(daemonSet('print', { spec: { selector, template: template({ nodeSelector: { a: 'b' } }) } }), {
    currentNumberScheduled: 1,
    numberMisscheduled: 0,
    desiredNumberScheduled: 2,
    numberReady: 1,
  }),
  withStatus(job('print', { spec: { template: template({ restartPolicy: 'Never' }, {}) } }), {
    startTime: time,
    active: 1,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  }),
  withStatus(
    cronJob('print', {
      spec: {
        schedule: '@daily',
        timeZone: 'Europe/Berlin',
        jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }, {}) } },
      },
    }),
    { lastScheduleTime: time, active: [{ name: 'x' }] },
  ),
  withStatus(
    node('oracle-print', {
      metadata: meta('oracle-print', {
        labels: { 'node-role.kubernetes.io/control-plane': '', 'kubernetes.io/role': 'x' },
      }),
      spec: { unschedulable: true },
    }),
    {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: '6',
        osImage: 'Debian',
        containerRuntimeVersion: 'containerd://2',
        kubeletVersion: 'v1.35.8',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  ),
  withStatus(
    service('print-lb', {
      spec: { type: 'LoadBalancer', externalIPs: ['1.2.3.4'], ports: [{ port: 80, nodePort: 30125 }] },
    }),
    { loadBalancer: { ingress: [{ ip: '5.6.7.8' }, { hostname: 'a.example.com' }] } },
  ),
  withStatus(
    ingress('print', { spec: { rules: ['a', 'b', 'c', 'd'].map((host) => ({ host: `${host}.example.com` })) } }),
    { loadBalancer: { ingress: [{ ip: '5.6.7.8' }] } },
  ),
  withStatus(
    autoscaler('print', {
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' }, maxReplicas: 3 },
    }),
    {
      desiredReplicas: 2,
      currentReplicas: 1,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 5, averageValue: '1' } } },
      ],
    },
  ),
  withStatus(quota('print', { spec: { hard: { pods: '10', 'limits.cpu': '2' } } }), {
    hard: { pods: '10', 'limits.cpu': '2' },
    used: { pods: '1' },
  }),
  withStatus(
    claim('print', {
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeName: 'v',
        storageClassName: 'sc',
        resources: { requests: { storage: '1Gi' } },
      },
    }),
    { phase: 'Bound', accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], capacity: { storage: '2Gi' } },
  ),
  event('print', {
    involvedObject: { kind: 'Pod', name: 'x', namespace: 'oracle', fieldPath: 'spec' },
    reason: 'R',
    message: ' m ',
    type: 'Warning',
    source: { component: 'kubelet', host: 'n' },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 4,
  }),
  endpoints('print', {
    subsets: [
      {
        addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }],
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
      },
    ],
  }),
  slice('print', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'] }],
    ports: [],
  }),
  storageClass('oracle-print', {
    metadata: meta('oracle-print', { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } }),
    provisioner: 'example.com/p',
    allowVolumeExpansion: true,
  }),
  clusterBinding('oracle-print', {
    roleRef: { kind: 'ClusterRole', name: 'view' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ],
  }),
];

export const cases: Case[] = [
  ...printed,
  pod('plain', { spec: { containers: [{ name: 'c', image: 'nginx' }] } }),
  pod('digest', {
    spec: {
      containers: [
        {
          name: 'c',
          image: 'reg.io:5000/a/nginx@sha256:0123456789012345678901234567890123456789012345678901234567890123',
        },
      ],
    },
  }),
  pod('rich', {
    metadata: meta('rich', { labels, annotations: { a: 'b' } }),
    spec: {
      initContainers: [{ name: 'i', image: 'busybox:latest', command: ['true'] }],
      containers: [
        container({
          ports: [{ containerPort: 80 }, { name: 'dns', containerPort: 53, protocol: 'UDP' }],
          env: [
            { name: 'A', value: '1' },
            { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'L', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
          ],
          envFrom: [{ configMapRef: { name: 'cm' } }],
          resources: { limits: { cpu: 0.5, memory: '1024Mi' }, requests: { cpu: '100m' } },
          livenessProbe: { httpGet: { port: 80 } },
          readinessProbe: { tcpSocket: { port: 'dns' }, periodSeconds: 3 },
          startupProbe: { grpc: { port: 9000 } },
          lifecycle: { preStop: { httpGet: { port: 80, path: '/x' } } },
          volumeMounts: [{ name: 'e', mountPath: '/e' }],
        }),
        { name: 'second', image: 'a/b:latest', resources: { limits: { cpu: '1', memory: '1Gi' } } },
      ],
      volumes: [
        { name: 'e' },
        { name: 's', secret: { secretName: 's' } },
        { name: 'm', configMap: { name: 'm', items: [{ key: 'k', path: 'p' }] } },
        { name: 'h', hostPath: { path: '/tmp' } },
        { name: 'd', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
        { name: 'x', emptyDir: { sizeLimit: '1024Ki', medium: 'Memory' } },
        { name: 'c', persistentVolumeClaim: { claimName: 'c' } },
        {
          name: 'v',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            },
          },
        },
      ],
      nodeSelector: { a: 'b' },
      tolerations: [{ key: 'k', operator: 'Exists' }],
    },
  }),
  pod('guaranteed', { spec: { containers: [container({ resources: { limits: { cpu: '1', memory: '1Gi' } } })] } }),
  pod('gated', { spec: { containers: [container()], schedulingGates: [{ name: 'example.com/gate' }] } }),
  pod('host network', { spec: { hostNetwork: true, containers: [container({ ports: [{ containerPort: 8080 }] })] } }),
  pod('image update', { spec: { containers: [container()] } }, (o) => {
    o.spec.containers[0].image = 'nginx:1.26';
    o.metadata.labels = { b: 'c' };
    o.status = { phase: 'Failed' };
  }),
  pod('no containers', { spec: { containers: [] } }),
  pod('bad names', {
    metadata: meta('Bad_Name', {
      labels: { 'a b': 'c d', ok: '-' },
      annotations: { 'x/y/z': '1' },
      finalizers: ['nope nope'],
    }),
    spec: {
      containers: [
        { name: 'C_', image: '' },
        { name: 'C_', image: 'a' },
      ],
      restartPolicy: 'Sometimes',
      dnsPolicy: 'Odd',
    },
  }),
  pod('bad container', {
    spec: {
      containers: [
        container({
          imagePullPolicy: 'Later',
          ports: [
            { containerPort: 0 },
            { containerPort: 70000 },
            { name: 'Bad_Port_Name_Long', containerPort: 1, protocol: 'ICMP' },
          ],
          env: [
            { name: '' },
            { name: 'a=b' },
            { name: 'E', valueFrom: {} },
            { name: 'F', value: 'x', valueFrom: { fieldRef: { fieldPath: 'spec.foo' } } },
          ],
          volumeMounts: [
            { name: 'missing', mountPath: '/a' },
            { name: 'v', mountPath: '/b' },
            { name: 'v', mountPath: '/b' },
          ],
          resources: {
            limits: { cpu: '1', 'example.com/gpu': '1' },
            requests: { cpu: '2', 'example.com/gpu': '2', bananas: '3' },
          },
          livenessProbe: { httpGet: { port: 0 }, exec: { command: ['x'] }, successThreshold: 2 },
          readinessProbe: {},
        }),
      ],
      volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }, { name: 'Bad_' }, { name: 'k', secret: {} }],
    },
  }),
  pod('bad scheduling', {
    spec: {
      containers: [container()],
      tolerations: [
        { operator: 'Equal' },
        { key: 'a', operator: 'Odd' },
        { key: 'a', operator: 'Exists', value: 'x', effect: 'No' },
      ],
      topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Never' }],
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: '' } }],
        },
      },
      activeDeadlineSeconds: 0,
      hostname: 'Bad.Host',
    },
  }),
  pod('bad init', {
    spec: { initContainers: [container({ livenessProbe: { exec: { command: ['x'] } } })], containers: [container()] },
  }),
  pod('add container', { spec: { containers: [container()] } }, (o) =>
    o.spec.containers.push({ ...o.spec.containers[0], name: 'd' }),
  ),
  pod('zeros', {
    metadata: meta('zeros', { labels: { role: '' }, annotations: {} }),
    spec: {
      hostNetwork: false,
      hostPID: false,
      nodeSelector: { role: '' },
      priorityClassName: '',
      subdomain: '',
      automountServiceAccountToken: false,
      volumes: [],
      imagePullSecrets: null,
      containers: [
        container({
          args: [],
          stdin: false,
          tty: false,
          workingDir: '',
          env: [{ name: 'E', value: '' }],
          resources: { limits: {}, requests: { cpu: 0 } },
          securityContext: { privileged: false },
          livenessProbe: { exec: { command: ['x'] }, initialDelaySeconds: 0, periodSeconds: 0 },
        }),
      ],
    },
  }),
  service('zeros', {
    spec: {
      externalName: '',
      publishNotReadyAddresses: false,
      selector: { role: '' },
      ports: [{ name: '', port: 80, nodePort: 0, targetPort: 0 }],
      externalIPs: [],
    },
  }),
  withStatus(
    deployment('zeros', {
      spec: {
        replicas: 0,
        minReadySeconds: 0,
        paused: false,
        revisionHistoryLimit: 0,
        selector: { matchLabels: labels, matchExpressions: [] },
        template: template(),
      },
    }),
    { replicas: 0, availableReplicas: 0, observedGeneration: 1 },
  ),
  autoscalerV1('plain', {
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' }, maxReplicas: 3 },
  }),
  autoscalerV1('target', {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 50,
    },
  }),
  newEvent('plain', {
    eventTime: '2024-01-02T03:04:05.000006Z',
    regarding: { kind: 'Pod', name: 'x', namespace: 'oracle' },
    reason: 'R',
    action: 'A',
    note: 'n',
    type: 'Normal',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
  }),
  newEvent('bad', { regarding: { namespace: 'other' }, type: 'Odd', deprecatedCount: 3 }),
  deployment('plain', { spec: { selector, template: template() } }),
  deployment('full', {
    metadata: meta('full', { labels, annotations: { a: 'b' } }),
    spec: { replicas: 0, selector, template: template({ serviceAccountName: 'x' }), strategy: { type: 'Recreate' } },
  }),
  deployment('scaled', { spec: { selector, template: template() } }, (o) => {
    o.spec.replicas = 3;
    o.status = { replicas: 3 };
  }),
  deployment('selector change', { spec: { selector, template: template() } }, (o) => {
    o.spec.selector.matchLabels.x = 'y';
    o.spec.template.metadata.labels.x = 'y';
  }),
  deployment('no selector', { spec: { template: template() } }),
  deployment('mismatch', { spec: { selector: { matchLabels: { a: 'b' } }, template: template() } }),
  deployment('empty', {}),
  deployment('empty selector', { spec: { selector: {}, template: template() } }),
  deployment('bad numbers', {
    spec: {
      replicas: -1,
      minReadySeconds: -1,
      progressDeadlineSeconds: 0,
      selector,
      template: template({ restartPolicy: 'Never' }),
      strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } },
    },
  }),
  deployment('bad strategy', {
    spec: { selector, template: template(), strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
  }),
  replicaSet('plain', { spec: { selector, template: template() } }),
  statefulSet('plain', { spec: { selector, serviceName: 'web', template: template() } }),
  statefulSet('claims', {
    spec: {
      selector,
      serviceName: 'web',
      template: template({ containers: [container({ volumeMounts: [{ name: 'data', mountPath: '/d' }] })] }),
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
        },
      ],
    },
  }),
  statefulSet('frozen', { spec: { selector, serviceName: 'web', template: template() } }, (o) => {
    o.spec.serviceName = 'other';
  }),
  daemonSet('plain', { spec: { selector, template: template() } }),
  daemonSet('template change', { spec: { selector, template: template() } }, (o) => {
    o.spec.template.spec.containers[0].image = 'nginx:2';
  }),
  daemonSet('bad', {
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: template(),
      updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
    },
  }),
  revision('plain', { data: { a: 1 }, revision: 1 }),
  controller('plain', { spec: { template: template() } }),
  podTemplate('plain', { template: template() }),
  job('plain', { spec: { template: template({ restartPolicy: 'Never' }, {}) } }),
  job('indexed', {
    spec: {
      completions: 3,
      parallelism: 2,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 1,
      template: template({ restartPolicy: 'OnFailure' }),
    },
  }),
  job('always', { spec: { template: template({}, {}) } }),
  job('frozen', { spec: { template: template({ restartPolicy: 'Never' }, {}) } }, (o) => {
    o.spec.completions = 5;
    o.spec.parallelism = 2;
  }),
  job('bad', {
    spec: {
      completions: -1,
      backoffLimit: -1,
      completionMode: 'Odd',
      template: template({ restartPolicy: 'Never' }, {}),
    },
  }),
  cronJob('plain', {
    spec: {
      schedule: '*/5 * * * *',
      jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }, {}) } },
    },
  }),
  cronJob('bad schedule', {
    spec: {
      schedule: '* * * *',
      concurrencyPolicy: 'Maybe',
      timeZone: 'Mars/Base',
      jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }, {}) } },
    },
  }),
  cronJob('bad minute', {
    spec: { schedule: '61 * * * *', jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }, {}) } } },
  }),
  cronJob('name that is much too long for the jobs made from it', {
    spec: { schedule: '@hourly', jobTemplate: { spec: { template: template({ restartPolicy: 'OnFailure' }, {}) } } },
  }),
  service('plain', { spec: { selector: labels, ports: [{ port: 80 }] } }),
  service('named', {
    spec: {
      selector: labels,
      ports: [
        { name: 'a', port: 80, targetPort: 'http' },
        { name: 'b', port: 53, protocol: 'UDP' },
      ],
      sessionAffinity: 'ClientIP',
    },
  }),
  service('headless', { spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] } }),
  service('node port', { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30123 }] } }),
  service('balancer', { spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30124 }] } }),
  service('external name', { spec: { type: 'ExternalName', externalName: 'example.com' } }),
  service('no ports', { spec: { selector: labels } }),
  service('bad ports', {
    spec: {
      ports: [
        { port: 0 },
        { name: 'A_', port: 80, protocol: 'X' },
        { name: 'c', port: 80, protocol: 'TCP', targetPort: 'Bad_Name' },
        { name: 'c', port: 80 },
      ],
    },
  }),
  service('bad type', { spec: { type: 'Odd', sessionAffinity: 'Sticky', ports: [{ port: 80, nodePort: 30200 }] } }),
  service('Bad name 1', { metadata: meta('1bad'), spec: { ports: [{ port: 80 }] } }),
  service('node port range', { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] } }),
  service('ip out of range', { spec: { clusterIP: '192.168.1.1', ports: [{ port: 80 }] } }),
  service('ip change', { spec: { ports: [{ port: 80 }] } }, (o) => {
    o.spec.clusterIP = '10.96.200.200';
    o.spec.clusterIPs = ['10.96.200.200'];
  }),
  service('keeps ip', { spec: { ports: [{ port: 80 }] } }, (o) => {
    delete o.spec.clusterIP;
    delete o.spec.clusterIPs;
    o.spec.ports[0].port = 81;
    o.metadata.labels = labels;
  }),
  service('to external', { spec: { ports: [{ port: 80 }] } }, (o) => {
    o.spec.type = 'ExternalName';
    o.spec.externalName = 'example.com';
  }),
  service('bad external', { spec: { type: 'ExternalName', externalName: 'Not_A_Name' } }),
  configMap('plain', { data: { a: '1' }, binaryData: { b: 'AA==' } }),
  configMap('empty', {}),
  configMap('bad keys', { data: { 'a b': '1', '..': '2' } }),
  configMap('duplicate', { data: { a: '1' }, binaryData: { a: 'AA==' } }),
  configMap('immutable', { immutable: true, data: { a: '1' } }, (o) => {
    o.data.a = '2';
  }),
  configMap('thawed', { immutable: true, data: { a: '1' } }, (o) => {
    delete o.immutable;
  }),
  secret('plain', { stringData: { a: 'hello' }, data: { b: 'AA==', a: 'AA==' } }),
  secret('tls', { type: 'kubernetes.io/tls', data: {} }),
  secret('basic', { type: 'kubernetes.io/basic-auth' }),
  secret('token', { type: 'kubernetes.io/service-account-token' }),
  secret('docker', { type: 'kubernetes.io/dockerconfigjson' }),
  secret('type change', { data: { a: 'AA==' } }, (o) => {
    o.type = 'example.com/x';
  }),
  namespace('oracle-made', {}),
  namespace('oracle finalizers', { spec: { finalizers: ['nope'] }, status: { phase: 'Terminating' } }),
  namespace('Bad.ns', { metadata: meta('oracle.dots') }),
  namespace('oracle-update', {}, (o) => {
    o.metadata.labels = { a: 'b' };
    o.spec.finalizers = [];
    o.status = { phase: 'Terminating' };
  }),
  node('oracle-node', { status: { capacity: { cpu: 2, memory: '1024Mi' } } }),
  node('oracle-taints', {
    spec: {
      taints: [
        { key: 'a b', effect: 'X' },
        { key: 'a', value: 'v', effect: 'NoSchedule' },
      ],
    },
  }),
  node('oracle-cidr', { spec: { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'], providerID: 'a://b' } }, (o) => {
    o.spec.podCIDR = '10.0.1.0/24';
    o.spec.podCIDRs = ['10.0.1.0/24'];
    o.spec.providerID = 'c://d';
  }),
  claim('plain', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } } }),
  claim('empty', { spec: {} }),
  claim('bad', {
    spec: {
      accessModes: ['Odd', 'ReadWriteOncePod', 'ReadWriteOnce'],
      resources: { requests: { storage: '0' } },
      volumeMode: 'Tape',
      storageClassName: 'Bad_',
    },
  }),
  claim(
    'frozen',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'a' } },
    (o) => {
      o.spec.volumeMode = 'Block';
    },
  ),
  volume('oracle-pv', {
    spec: { capacity: { storage: '1024Mi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } },
  }),
  volume('oracle-bad', { spec: { accessModes: [] } }),
  volume('oracle-local', {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      local: { path: '/x' },
      persistentVolumeReclaimPolicy: 'Eat',
    },
  }),
  quota('plain', { spec: { hard: { pods: 10, 'requests.cpu': '1000m', 'count/deployments.apps': '2' } } }),
  quota('bad', { spec: { hard: { bananas: '1', pods: '1.5', cpu: '-1' }, scopes: ['BestEffort', 'NotBestEffort'] } }),
  limitRange('plain', {
    spec: {
      limits: [
        { type: 'Pod', max: { cpu: '2' } },
        { type: 'Container', max: { memory: '1Gi' }, min: { memory: '100Mi' }, default: { cpu: '1' } },
      ],
    },
  }),
  limitRange('bad', {
    spec: {
      limits: [
        { type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } },
        { type: 'Odd' },
        { type: 'Pod', default: { cpu: '1' } },
      ],
    },
  }),
  endpoints('plain', { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }),
  endpoints('bad', {
    subsets: [{}, { addresses: [{ ip: 'x' }, { ip: '127.0.0.1' }], ports: [{ port: 0 }, { port: 1, protocol: 'X' }] }],
  }),
  event('plain', {
    involvedObject: { kind: 'Pod', name: 'x', namespace: 'oracle' },
    reason: 'R',
    message: 'm',
    type: 'Normal',
  }),
  event('elsewhere', { involvedObject: { kind: 'Pod', name: 'x', namespace: 'other' } }),
  account('plain', {}),
  ingress('plain', {
    spec: {
      rules: [{ host: 'a.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      tls: [{ hosts: ['a.example.com'], secretName: 's' }],
    },
  }),
  ingress('backend', { spec: { defaultBackend: backend } }),
  ingress('empty', { spec: {} }),
  ingress('bad', {
    spec: {
      ingressClassName: 'Bad_',
      rules: [
        {
          host: '10.0.0.1',
          http: {
            paths: [
              { backend: {} },
              { path: 'x//y', pathType: 'Prefix', backend: { service: { name: '1', port: {} } } },
              { path: '/', pathType: 'Odd', backend: { service: { name: 'a', port: { name: 'a', number: 1 } } } },
            ],
          },
        },
      ],
    },
  }),
  ingressClass('oracle-class', {
    spec: { controller: 'example.com/x', parameters: { kind: 'K', name: 'n', apiGroup: 'g.io' } },
  }),
  ingressClass('oracle-bad-class', { spec: { controller: 'nope' } }),
  networkPolicy('plain', {
    spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }], from: [{ namespaceSelector: {} }] }] },
  }),
  networkPolicy('egress', {
    spec: {
      podSelector: { matchLabels: labels },
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }],
    },
  }),
  networkPolicy('bad', {
    spec: {
      podSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] },
      policyTypes: ['X'],
      ingress: [{ ports: [{ protocol: 'X', endPort: 3 }], from: [{}, { ipBlock: { cidr: 'x' }, podSelector: {} }] }],
    },
  }),
  slice('plain', { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] }),
  slice('bad', { addressType: 'Odd', endpoints: [{ addresses: [] }], ports: [{ protocol: 'X' }, {}] }),
  slice('bad address', { addressType: 'IPv4', endpoints: [{ addresses: ['::1', 'x'] }] }),
  autoscaler('plain', {
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' }, maxReplicas: 3 },
  }),
  autoscaler('behavior', {
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1024Mi' } } },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    },
  }),
  autoscaler('bad', {
    spec: {
      scaleTargetRef: {},
      minReplicas: 0,
      maxReplicas: 0,
      metrics: [{ type: 'Odd' }, { type: 'Resource', resource: { name: '', target: {} } }],
    },
  }),
  budget('plain', { spec: { minAvailable: 1, selector } }),
  budget('bad', { spec: { minAvailable: '150%', maxUnavailable: -1 } }),
  role('plain', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  role('none', {}),
  role('bad', { rules: [{ resources: ['pods'] }, { nonResourceURLs: ['/x'], verbs: ['get'] }] }),
  clusterRole('oracle-plain', { rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }] }),
  clusterRole('oracle-aggregated', { aggregationRule: {} }),
  binding('plain', {
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'ServiceAccount', name: 's' },
    ],
  }),
  binding('bad', { roleRef: { kind: 'Odd' }, subjects: [{ kind: 'Odd', name: 'x' }, { kind: 'User' }] }),
  binding('changed', { roleRef: { kind: 'ClusterRole', name: 'view' } }, (o) => {
    o.roleRef.name = 'edit';
  }),
  clusterBinding('oracle-bad', {
    roleRef: { kind: 'Role', name: 'x' },
    subjects: [{ kind: 'ServiceAccount', name: 's' }],
  }),
  storageClass('oracle-sc', { provisioner: 'example.com/p' }),
  storageClass('oracle-sc-bad', { reclaimPolicy: 'Recycle', volumeBindingMode: 'Odd' }),
  storageClass('oracle-sc-frozen', { provisioner: 'example.com/p' }, (o) => {
    o.provisioner = 'example.com/q';
    o.parameters = { a: 'b' };
  }),
  csiDriver('oracle.example.com', { metadata: meta('oracle.example.com'), spec: {} }),
  csiNode('oracle-csi', { spec: { drivers: [] } }),
  priorityClass('oracle-pc', { value: 100 }),
  priorityClass('oracle-pc-high', { value: 2000000000 }),
  priorityClass('system-oracle', { value: 1 }),
  priorityClass('oracle-pc-frozen', { value: 100 }, (o) => {
    o.value = 200;
  }),
  lease('plain', {
    spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2024-01-02T03:04:05.000006Z' },
  }),
  lease('bad', { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
  runtimeClass('oracle-rc', { handler: 'h' }),
  runtimeClass('oracle-rc-bad', { handler: 'Bad_' }),
  validating('oracle-v', { webhooks: [hook()] }),
  validating('oracle-v-bad', {
    webhooks: [
      hook({
        name: 'short',
        sideEffects: 'Some',
        timeoutSeconds: 60,
        clientConfig: {},
        admissionReviewVersions: ['v9'],
        rules: [{ operations: ['*', 'CREATE'], apiGroups: [], apiVersions: [''], resources: [] }],
      }),
    ],
  }),
  mutating('oracle-m', { webhooks: [hook()] }),
  policy('oracle-vap', {
    spec: {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
        ],
      },
      validations: [{ expression: 'true' }],
    },
  }),
  policyBinding('oracle-vapb', { spec: { policyName: 'nobody', validationActions: ['Deny'] } }),
  policyBinding('oracle-vapb-bad', { spec: { validationActions: ['Deny', 'Warn', 'Odd'] } }),
  flowSchema('oracle-fs', {
    spec: {
      priorityLevelConfiguration: { name: 'exempt' },
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'x' } }],
          resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }],
        },
      ],
    },
  }),
  priorityLevel('oracle-pl', { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } } }),
];
