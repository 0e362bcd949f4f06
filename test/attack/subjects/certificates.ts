/** Client certificates: the signer never signs for system:masters, and no other certificate is believed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type OddRequest, oddRequests } from '../../harness/odd-requests.ts';
import { type Attack, NotHeld, refused, type Subject } from '../attack.ts';
import { done, named, type Scene } from '../scene.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** The attacker may even approve the request. */
async function asked({ red: { http } }: Scene, name: string, { pem }: OddRequest): Promise<void> {
  const made = await http.post(REQUESTS, {
    ...named('certificates.k8s.io/v1', 'CertificateSigningRequest', name),
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  });
  if (made.status >= 400) return refused(made, 400, 403, 422);
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Attack', message: 'x' }];
  await done(http.put(`${REQUESTS}/${name}/approval`, { ...made.json, status: { conditions } }));
  for (let round = 0; round < 500; round++) {
    const { status } = (await http.get(`${REQUESTS}/${name}`)).json;
    if (status?.certificate) throw new NotHeld('a certificate was signed');
    if (status?.conditions?.some(({ type }: { type: string }) => type === 'Failed')) return;
    await delay(20);
  }
  throw new NotHeld('the signer neither signed nor refused it');
}

function selfSigned(name: string, subject: string): Attack {
  return {
    name,
    run: async ({ root, blue }) => {
      const folder = mkdtempSync(join(tmpdir(), 'rookery-attack-'));
      const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
      try {
        const args = ['req', '-x509', ...curve, '-subj', subject, '-keyout', keyFile, '-out', certFile];
        execFileSync('openssl', args, { stdio: 'ignore' });
        const [cert, key] = [readFileSync(certFile, 'utf8'), readFileSync(keyFile, 'utf8')];
        for (const { http } of [root, blue]) {
          refused(await http.get('/api/v1/secrets', { token: null, cert, key }), 401, 403);
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

export const certificates: Subject = {
  name: 'certificates',
  attacks: [
    ...oddRequests('system:masters', 'mallory').map(
      (request, index): Attack => ({
        name: `asks for a certificate of system:masters (${request.how})`,
        run: (scene) => asked(scene, `masters-${index}`, request),
      }),
    ),
    selfSigned('shows a certificate of its own for system:masters', '/O=system:masters/CN=admin'),
    selfSigned("shows a certificate with the CA's subject", '/CN=rookery'),
  ],
};
