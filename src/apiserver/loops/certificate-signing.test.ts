import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { certificateAdmission } from '../auth/certificate-admission.ts';
import { RbacAuthorizer } from '../auth/rbac.ts';
import { certificateSigning } from './certificate-signing.ts';
import { WRITE } from './loop.ts';
import type { RequestedCertificate } from './signer-rules.ts';
import { TestCluster } from './testing/test-cluster.ts';

/** A request in these tests is its own content as JSON; the real reading and signing is the vault's. */
const signer = {
  read: (pem: string): RequestedCertificate => ({
    commonName: '',
    organizations: [],
    dnsNames: [],
    ipAddresses: [],
    otherNames: [],
    ...JSON.parse(pem.split('\n')[1] ?? ''),
  }),
  sign: (_: string, usages: string[], seconds: number) => `signed for ${usages} ${seconds}`,
};
let cluster: TestCluster;

beforeEach(() => {
  cluster = new TestCluster();
  cluster.context.signer = signer;
  cluster.context.authorizer = new RbacAuthorizer(cluster.context.store);
});
afterEach(() => cluster.close());

/** Put into the store as is: whether a request is well formed is not the loop's business. */
async function ask(
  name: string,
  signerName: string,
  request: object,
  usages: string[],
  more = {},
): Promise<KubeObject> {
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${JSON.stringify(request)}\n-----END CERTIFICATE REQUEST-----\n`;
  const object: KubeObject = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, uid: name },
    spec: { request: Buffer.from(pem).toString('base64'), signerName, usages, username: 'u', groups: [], ...more },
    status: {},
  };
  const key = { resource: 'certificates.k8s.io/certificatesigningrequests', namespace: '', name };
  await cluster.context.store.write((tx) => tx.put(key, structuredClone(object)));
  return object;
}

function approve(object: KubeObject): Promise<unknown> {
  const conditions = [{ type: 'Approved', status: 'True', reason: 'R', message: 'M' }];
  return cluster.merge(object, { status: { conditions } }, 'approval');
}

const certificate = (object: KubeObject) =>
  Buffer.from(cluster.get(object)?.status?.certificate ?? '', 'base64').toString();
const failure = (object: KubeObject) =>
  cluster.get(object)?.status?.conditions?.find((c: { type: string }) => c.type === 'Failed')?.message;

test('an approved client request is signed, not before, and no longer than a year', async () => {
  cluster.start(certificateSigning);
  const object = await ask('a', 'kubernetes.io/kube-apiserver-client', { commonName: 'jane' }, ['client auth'], {
    expirationSeconds: 1e9,
  });
  await cluster.settle();
  expect(certificate(object)).toBe('');
  await approve(object);
  await cluster.until(() => certificate(object) !== '');
  expect(certificate(object)).toBe('signed for client 31536000');
});

test('a request that breaks the rules of its signer fails, even when approved', async () => {
  cluster.start(certificateSigning);
  const masters = { commonName: 'x', organizations: ['system:masters'] };
  const object = await ask('a', 'kubernetes.io/kube-apiserver-client', masters, ['client auth']);
  await approve(object);
  await cluster.until(() => failure(object) !== undefined);
  expect(failure(object)).toContain('system:masters group is not allowed');
  expect(certificate(object)).toBe('');
});

test('a node’s own client request is approved by RBAC; strangers’ requests wait for a person', async () => {
  await cluster.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'nodes' },
    rules: [
      {
        verbs: ['create'],
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/selfnodeclient'],
      },
    ],
  });
  await cluster.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'nodes' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'nodes' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' }],
  });
  cluster.start(certificateSigning);
  const signerName = 'kubernetes.io/kube-apiserver-client-kubelet';
  const request = { commonName: 'system:node:a', organizations: ['system:nodes'] };
  const usages = ['client auth', 'digital signature'];
  const own = await ask('own', signerName, request, usages, { username: 'system:node:a', groups: ['system:nodes'] });
  const other = await ask('other', signerName, request, usages, {
    username: 'system:node:b',
    groups: ['system:nodes'],
  });
  await cluster.until(() => certificate(own) !== '');
  await cluster.settle();
  expect(cluster.get(other)?.status.conditions).toBeUndefined();
});

test('approving needs the verb on the signer', async () => {
  const object = await ask('a', 'kubernetes.io/kube-apiserver-client', { commonName: 'jane' }, ['client auth']);
  const plugin = certificateAdmission(new RbacAuthorizer(cluster.context.store));
  const attributes = {
    operation: 'UPDATE' as const,
    resource: cluster.resource(object),
    subresource: 'approval',
    object,
    old: object,
    namespace: '',
    name: 'a',
    identity: { user: 'joe', groups: [] },
    dryRun: false,
    store: cluster.context.store,
    now: 0,
  };
  expect(plugin.handles(attributes)).toBe(true);
  expect(() => plugin.validate?.(attributes)).toThrow(
    'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
  );
  await plugin.validate?.({ ...attributes, identity: WRITE.identity });
});
