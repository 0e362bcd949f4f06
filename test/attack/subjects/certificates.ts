/** Client certificates: what a request asks for is what is signed, and never more than its signer allows. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attack, held, NotHeld, refused, type Subject } from '../attack.ts';
import { named, type Scene } from '../scene.ts';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

function openssl(folder: string, ...args: string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** A request whose organisation is written as this ASN.1 string type; `openssl` encodes what its configuration says. */
function requestFor(folder: string, mask: string, organisation: string): { csr: string; key: string } {
  const config = `[req]\nprompt=no\nstring_mask=${mask}\ndistinguished_name=dn\n[dn]\nO=${organisation}\nCN=evil\n`;
  writeFileSync(join(folder, 'req.cnf'), config);
  openssl(
    folder,
    'req',
    '-new',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-config',
    'req.cnf',
    '-keyout',
    'key.pem',
    '-out',
    'csr.pem',
  );
  return { csr: readFileSync(join(folder, 'csr.pem'), 'utf8'), key: readFileSync(join(folder, 'key.pem'), 'utf8') };
}

/** The subject with another string type: the tag of the organisation's value is changed, and its bytes widened where the type wants that. */
async function signedFor(scene: Scene, mask: string, organisation: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-attack-'));
  try {
    const { csr, key } = requestFor(folder, mask, organisation);
    const name = `evil-${mask.replaceAll(':', '-')}`;
    const { http } = scene.red;
    const made = await http.post(REQUESTS, {
      ...named('certificates.k8s.io/v1', 'CertificateSigningRequest', name),
      spec: {
        request: Buffer.from(csr).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    });
    if (made.status >= 400) return refused(made, 400, 403, 422);
    const approved = {
      ...made.json,
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x', message: 'x' }] },
    };
    await http.put(`${REQUESTS}/${name}/approval`, approved);
    await delay(500);
    const { status } = (await http.get(`${REQUESTS}/${name}`)).json;
    await http.delete(`${REQUESTS}/${name}`);
    if (!status?.certificate) return;
    const cert = Buffer.from(status.certificate, 'base64').toString();
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const asked = await http.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, {
      token: null,
      cert,
      key,
    });
    held(
      !asked.text.includes('system:masters'),
      `the certificate is one of system:masters: ${asked.text.slice(0, 300)}`,
    );
    throw new NotHeld('a certificate for system:masters was signed');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function selfSigned(name: string, subject: string): Attack {
  return {
    name,
    run: async ({ root, blue }) => {
      const folder = mkdtempSync(join(tmpdir(), 'rookery-attack-'));
      try {
        openssl(
          folder,
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:P-256',
          '-nodes',
          '-subj',
          subject,
          '-keyout',
          'key.pem',
          '-out',
          'cert.pem',
        );
        const [cert, key] = ['cert.pem', 'key.pem'].map((file) => readFileSync(join(folder, file), 'utf8'));
        for (const { http } of [root, blue]) {
          refused(await http.get('/api/v1/secrets', { token: null, cert, key }), 401, 403);
        }
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Masks of openssl's configuration; the second ones choose types that readers know less well. */
const MASKS = ['utf8only', 'nombstr', 'pkix', 'default', 'MASK:0x100', 'MASK:0x800', 'MASK:0x4', 'MASK:0x10'];

export const certificates: Subject = {
  name: 'certificates',
  attacks: [
    ...MASKS.map(
      (mask): Attack => ({
        name: `asks for a certificate of system:masters, written as ${mask}`,
        run: (scene) => signedFor(scene, mask, 'system:masters'),
      }),
    ),
    selfSigned('shows a certificate of its own for system:masters', '/O=system:masters/CN=admin'),
    selfSigned("shows a certificate whose subject is the CA's", '/CN=rookery'),
  ],
};
