/** The serving certificate of the embedded server and the CA behind it: made on first use, renewed before they run out. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ANY_SERVER_NAME } from '../apiserver/index.ts';
import type { Clock } from '../clock.ts';
import { issueServer, type KeyPair } from '../vault/certificates.ts';
import { createPrivate, writePrivate } from '../vault/files.ts';
import { type Authority, broken, bundleOf, ensureAuthority, rotateAuthority } from './authority.ts';
import type { Home } from './home.ts';

const RENEW_BEFORE_MS = 30 * 86_400_000;
const SERVER_DAYS = 365;
const NAMES = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  ANY_SERVER_NAME,
];

export interface Pki {
  /** The CA that signs. */
  ca: KeyPair;
  authority: Authority;
  /** PEM of all CAs that clients are to trust. */
  bundle: string;
  /** The certificate with what leads from it to the CAs. */
  server: KeyPair;
}

/** `names`: hosts it is reached by, beside those of this machine. */
export async function ensurePki(home: Home, names: readonly string[], clock: Clock): Promise<Pki> {
  let authority = await ensureAuthority(home.pki('ca.pem'), clock);
  // One that ends soon is exchanged as by `rookery vault rotate`: clients that trust it go on.
  if (endsSoon(new X509Certificate(authority.pair.cert), clock)) {
    authority = await rotateAuthority(home.pki('ca.pem'), authority, clock);
  }
  return servingPki(home, authority, names, clock);
}

/** With a serving certificate of the given CA, made anew when the one there is does not fit. */
export async function servingPki(
  home: Home,
  authority: Authority,
  names: readonly string[],
  clock: Clock,
): Promise<Pki> {
  const asked = names.filter((name) => name !== '0.0.0.0' && name !== '::');
  const hosts = [...new Set(['127.0.0.1', '::1', ...NAMES, ...asked])];
  const ca = authority.pair;
  const signer = new X509Certificate(ca.cert);
  const fits = (cert: X509Certificate) =>
    cert.checkIssued(signer) &&
    cert.verify(signer.publicKey) &&
    cert.checkHost(ANY_SERVER_NAME.replace('*', 'any')) !== undefined &&
    asked.every((name) => cert.checkIP(name) ?? cert.checkHost(name));
  const server = await ensurePair(home.pki('server.pem'), clock, fits, () =>
    issueServer(ca, 'rookery', hosts, { clock, days: SERVER_DAYS }),
  );
  const chain = [server.cert, ...authority.bridges].join('');
  return { ca, authority, bundle: bundleOf(authority), server: { cert: chain, key: server.key } };
}

function endsSoon(cert: X509Certificate, clock: Clock): boolean {
  return Date.parse(cert.validTo) - clock.now() <= RENEW_BEFORE_MS;
}

/** Certificate and key share a file, so that two who start at once can never leave the one's beside the other's. */
async function ensurePair(
  file: string,
  clock: Clock,
  fits: (cert: X509Certificate) => boolean,
  make: () => KeyPair,
): Promise<KeyPair> {
  const isGood = (pair: KeyPair) => {
    const cert = new X509Certificate(pair.cert);
    return !endsSoon(cert, clock) && fits(cert);
  };
  const known = await readPair(file);
  if (known && isGood(known)) return known;
  const made = make();
  if (known) await writePrivate(file, made.cert + made.key);
  else if (!(await createPrivate(file, made.cert + made.key))) return (await readPair(file)) ?? made;
  return made;
}

async function readPair(file: string): Promise<KeyPair | undefined> {
  const text = await readFile(file, 'utf8').catch(absent);
  if (text === undefined) return undefined;
  const at = text.search(/-----BEGIN [A-Z ]*PRIVATE KEY-----/);
  const pair = { cert: text.slice(0, Math.max(at, 0)), key: text.slice(Math.max(at, 0)) };
  try {
    if (new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) return pair;
  } catch (cause) {
    throw broken(file, cause);
  }
  throw broken(file);
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
