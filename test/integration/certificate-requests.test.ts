/** Certificate requests that try to become somebody else: an administrator approves every one of them, and the signer still decides. */
import { expect, it } from 'vitest';
import { oddRequests } from '../harness/odd-requests.ts';
import { unharmedServer } from '../harness/unharmed.ts';

const scene = unharmedServer();
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const SIGNER = 'kubernetes.io/kube-apiserver-client';

interface Outcome {
  certificate?: string;
  failure?: string;
}

async function approved(name: string, pem: string): Promise<Outcome> {
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request: Buffer.from(pem).toString('base64'), signerName: SIGNER, usages: ['client auth'] },
  };
  const created = await scene.http.post(REQUESTS, object);
  // Upstream refuses requests that cannot be parsed when they are created; either place is fine.
  if (created.status !== 201) return { failure: created.json.message };
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'approved whatever it is' }];
  const approval = await scene.http.put(`${REQUESTS}/${name}/approval`, { ...created.json, status: { conditions } });
  expect(approval.status, approval.text).toBe(200);
  for (let round = 0; round < 500; round++) {
    const { status } = (await scene.http.get(`${REQUESTS}/${name}`)).json;
    const failed = status?.conditions?.find((each: { type: string }) => each.type === 'Failed');
    if (failed) return { failure: failed.message };
    if (status?.certificate) return { certificate: Buffer.from(status.certificate, 'base64').toString() };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`nothing became of ${name}`);
}

it('system:masters is not signed, however it is written', async () => {
  for (const [index, { how, pem }] of oddRequests('system:masters', 'mallory').entries()) {
    const { certificate, failure } = await approved(`masters-${index}`, pem);
    expect(certificate, how).toBeUndefined();
    expect(failure, how).toMatch(/system:masters group is not allowed|unable to parse csr|cannot be read/);
  }
});

it('what is signed authenticates as what was asked for', async () => {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  let signed = 0;
  for (const [index, { how, pem, key, organizations }] of oddRequests('devs', 'jane').entries()) {
    const { certificate } = await approved(`devs-${index}`, pem);
    expect(certificate !== undefined, how).toBe(organizations !== undefined);
    if (!certificate) continue;
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const answer = await scene.http.post(path, review, { token: null, cert: certificate, key });
    expect(answer.json.status.userInfo, how).toMatchObject({
      username: 'jane',
      groups: [...(organizations ?? []), 'system:authenticated'],
    });
    signed++;
  }
  expect(signed).toBe(7);
});
