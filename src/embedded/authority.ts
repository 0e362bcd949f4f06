/**
 * The CA that clients of the embedded server trust, in one file: certificate and key of the newest, and while it takes
 * the place of another, that one's certificate and a bridge. The bridge is the new CA signed by the old one; the server
 * sends it along, so that clients which know only the old CA, only the new one, or both, all accept the server.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { bridgeCa, createCa, type KeyPair } from '../vault/certificates.ts';
import { createPrivate, writePrivate } from '../vault/files.ts';
import { fromPem, toPem } from '../x509/pem.ts';

export interface Authority {
  /** The newest, which signs. */
  pair: KeyPair;
  /** Milliseconds since the epoch; absent for one that an older version made. */
  madeAt?: number;
  /** PEM each: the new signed by the old, newest first. */
  bridges: string[];
  /** PEM each: CAs that some clients may still trust instead. */
  retiring: string[];
}

const NAME = 'rookery';

/** Reads the file, or makes it. Two who start at once get the same. */
export async function ensureAuthority(file: string, clock: Clock): Promise<Authority> {
  const known = await readAuthority(file);
  if (known) return known;
  const made = { pair: createCa(NAME, { clock }), madeAt: clock.now(), bridges: [], retiring: [] };
  return (await createPrivate(file, textOf(made))) ? made : ((await readAuthority(file)) ?? made);
}

/** A new CA takes over; the file is replaced whole, so a crash leaves either the old state or the new one. */
export async function rotateAuthority(file: string, old: Authority, clock: Clock): Promise<Authority> {
  // Names differ, so that no client takes the one for the other.
  const pair = createCa(`${NAME} ${new Date(clock.now()).toISOString()}`, { clock });
  const next = {
    pair,
    madeAt: clock.now(),
    bridges: [bridgeCa(old.pair, pair, { clock }), ...old.bridges],
    retiring: [old.pair.cert, ...old.retiring],
  };
  await writePrivate(file, textOf(next));
  return next;
}

export async function retireAuthorities(file: string, current: Authority): Promise<Authority> {
  const next = { ...current, bridges: [], retiring: [] };
  await writePrivate(file, textOf(next));
  return next;
}

/** What clients are to trust. */
export function bundleOf({ pair, retiring }: Authority): string {
  return [pair.cert, ...retiring].join('');
}

async function readAuthority(file: string): Promise<Authority | undefined> {
  const text = await readFile(file, 'utf8').catch(absent);
  if (text === undefined) return undefined;
  try {
    const blocks = fromPem(text);
    const [cert, ...others] = blocks.filter(({ label }) => label === 'CERTIFICATE');
    const key = blocks.find(({ label }) => label.endsWith('PRIVATE KEY'));
    if (!cert || !key) throw broken(file);
    const pair = { cert: toPem('CERTIFICATE', cert.der), key: toPem(key.label, key.der) };
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) throw broken(file);
    const rest = others.map(({ der }) => ({ pem: toPem('CERTIFICATE', der), isOwn: isSelfSigned(der) }));
    const made = /^# made (\S+)$/m.exec(text)?.[1];
    return {
      pair,
      ...(made ? { madeAt: Date.parse(made) } : {}),
      bridges: rest.filter(({ isOwn }) => !isOwn).map(({ pem }) => pem),
      retiring: rest.filter(({ isOwn }) => isOwn).map(({ pem }) => pem),
    };
  } catch (error) {
    throw error instanceof RookeryError ? error : broken(file, error);
  }
}

function textOf({ pair, madeAt, bridges, retiring }: Authority): string {
  const note = madeAt === undefined ? '' : `# made ${new Date(madeAt).toISOString()}\n`;
  return [note, pair.cert, pair.key, ...bridges, ...retiring].join('');
}

function isSelfSigned(der: Buffer): boolean {
  const certificate = new X509Certificate(der);
  return certificate.verify(certificate.publicKey);
}

export function broken(file: string, cause?: unknown): RookeryError {
  return new RookeryError('pki.broken', `${file} does not hold a certificate and its key`, {
    hint: 'It was left as it is. Restore it; or move it away and accept a new one, after which kubeconfigs have to be fetched again: rookery vault replace-lost ca',
    cause,
  });
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
