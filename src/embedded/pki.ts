/** The CA and serving certificate of the embedded server: made on first use, renewed before they run out. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { createCa, issueServer, type KeyPair } from '../vault/certificates.ts';
import { writePrivate } from '../vault/files.ts';
import type { Home } from './home.ts';

const RENEW_BEFORE_MS = 30 * 86_400_000;
const SERVER_DAYS = 365;
const NAMES = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

export interface Pki {
  ca: KeyPair;
  server: KeyPair;
}

export async function ensurePki(home: Home, host: string, clock: Clock): Promise<Pki> {
  const ca = await ensurePair(
    home,
    'ca',
    clock,
    () => true,
    () => createCa('rookery', { clock }),
  );
  const hosts = [...new Set(['127.0.0.1', '::1', ...NAMES, ...(host === '0.0.0.0' || host === '::' ? [] : [host])])];
  const fits = (cert: X509Certificate) => cert.checkIssued(new X509Certificate(ca.cert)) && covers(cert, host);
  const server = await ensurePair(home, 'server', clock, fits, () =>
    issueServer(ca, 'rookery', hosts, { clock, days: SERVER_DAYS }),
  );
  return { ca, server };
}

async function ensurePair(
  home: Home,
  name: string,
  clock: Clock,
  fits: (cert: X509Certificate) => boolean,
  make: () => KeyPair,
): Promise<KeyPair> {
  const [certFile, keyFile] = [home.pki(`${name}.crt`), home.pki(`${name}.key`)];
  const cert = await readFile(certFile, 'utf8').catch(absent);
  const key = await readFile(keyFile, 'utf8').catch(absent);
  if (cert && key) {
    const parsed = new X509Certificate(cert);
    if (Date.parse(parsed.validTo) - clock.now() > RENEW_BEFORE_MS && fits(parsed)) return { cert, key };
  }
  const made = make();
  await writePrivate(keyFile, made.key);
  await writePrivate(certFile, made.cert);
  return made;
}

function covers(cert: X509Certificate, host: string): boolean {
  return host === '0.0.0.0' || host === '::' || Boolean(cert.checkIP(host) ?? cert.checkHost(host));
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
