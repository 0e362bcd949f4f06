/** What the smallest roles reach: escalation, other namespaces, and what belongs to the installation. */
import { type Attack, held, refused, type Subject } from '../attack.ts';
import { CANARY, hasCanary, NAMESPACE, named, type Scene } from '../scene.ts';

type Role = 'tenant' | 'student';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

function asks(role: Role, name: string, method: string, path: string, body?: object): Attack {
  return {
    name: `${name} (${role})`,
    run: async (scene) => {
      const answer = await scene[role].http.send(method, path, { body });
      refused(answer, 403, 404, 405);
      held(!hasCanary(answer.text), 'the answer contains what only the administrator may see');
    },
  };
}

const clusterAdmin = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
const self = (role: Role) => [{ kind: 'ServiceAccount', name: `rookery-${role}`, namespace: NAMESPACE }];

const attacksOf = (role: Role): Attack[] => [
  asks(role, 'lists all Secrets', 'GET', '/api/v1/secrets'),
  asks(role, "reads the administrator's Secret", 'GET', `/api/v1/namespaces/default/secrets/${CANARY}`),
  asks(role, 'watches Secrets of another namespace', 'GET', '/api/v1/namespaces/default/secrets?watch=1'),
  asks(
    role,
    'lists clusters of another namespace',
    'GET',
    '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters',
  ),
  asks(
    role,
    'deletes a cluster of another namespace',
    'DELETE',
    '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters/blue',
  ),
  asks(role, 'binds itself to cluster-admin everywhere', 'POST', `${RBAC}/clusterrolebindings`, {
    ...named('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'mine'),
    roleRef: clusterAdmin,
    subjects: self(role),
  }),
  asks(role, 'binds itself to cluster-admin in its namespace', 'POST', `${RBAC}/namespaces/${NAMESPACE}/rolebindings`, {
    ...named('rbac.authorization.k8s.io/v1', 'RoleBinding', 'mine'),
    roleRef: clusterAdmin,
    subjects: self(role),
  }),
  asks(role, 'writes a role that may do everything', 'POST', `${RBAC}/clusterroles`, {
    ...named('rbac.authorization.k8s.io/v1', 'ClusterRole', 'mine'),
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  }),
  asks(role, 'adds rules to its own role', 'PATCH', `${RBAC}/clusterroles/rookery-${role}`, {}),
  asks(
    role,
    'makes a token of another ServiceAccount',
    'POST',
    '/api/v1/namespaces/kube-system/serviceaccounts/generic-garbage-collector/token',
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    },
  ),
  asks(role, 'makes a Secret that becomes a token', 'POST', `/api/v1/namespaces/${NAMESPACE}/secrets`, {
    ...named('v1', 'Secret', 'mine'),
    type: 'kubernetes.io/service-account-token',
  }),
  asks(role, 'registers a webhook', 'POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    ...named('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', 'mine'),
    webhooks: [],
  }),
  asks(role, 'installs a CRD', 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    ...named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'mines.example.com'),
    spec: {},
  }),
  asks(
    role,
    'approves certificate requests',
    'PUT',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval',
    {
      ...named('certificates.k8s.io/v1', 'CertificateSigningRequest', 'x'),
    },
  ),
  asks(role, 'gives itself the highest priority', 'POST', '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', {
    ...named('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', 'mine'),
    spec: { priorityLevelConfiguration: { name: 'exempt' } },
  }),
  asks(role, 'removes labels from its namespace', 'PATCH', `/api/v1/namespaces/${NAMESPACE}`, {}),
  asks(role, 'reads metrics of the whole process', 'GET', '/metrics'),
  asks(role, 'reads the queues of other users', 'GET', '/debug/api_priority_and_fairness/dump_requests'),
  asks(role, 'writes a template for everybody', 'POST', '/apis/workshop.platform/v1alpha1/workspacetemplates', {
    ...named('workshop.platform/v1alpha1', 'WorkspaceTemplate', 'mine'),
    spec: {},
  }),
];

export const roles: Subject = {
  name: 'roles',
  attacks: [
    ...attacksOf('tenant'),
    ...attacksOf('student'),
    {
      name: 'waits for objects of other namespaces in a list of its own namespace (tenant)',
      run: async ({ tenant }: Scene) => {
        const answer = await tenant.http.get(
          `/api/v1/namespaces/${NAMESPACE}/secrets?fieldSelector=metadata.namespace!%3Dx`,
        );
        held(!hasCanary(answer.text), 'the answer contains Secrets of another namespace');
      },
    },
  ],
};
