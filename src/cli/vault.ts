/** `rookery vault status|rotate|retire|revoke`: of a running control plane, or of one that the command hosts itself. */
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { diskReport } from '../embedded/disk-report.ts';
import { KEY_KINDS, type KeyKind } from '../embedded/rotation-file.ts';
import type { VaultStatus } from '../embedded/vault.ts';
import { serveVault, VAULT_PATH, type VaultCalls } from '../embedded/vault-requests.ts';
import type { KeyStatus } from '../embedded/vault-status.ts';
import { RookeryError } from '../errors.ts';
import { HttpClient } from '../kube/http-client.ts';
import { loadKubeconfig } from '../kube/index.ts';
import { tenantName } from '../provisioners/virtual/tenants.ts';
import { connect, type GlobalOptions, homeOf } from './connect.ts';
import { LiveLines } from './live-lines.ts';
import { age, columns, print } from './output.ts';

const POLL_MS = 200;

interface VaultClient {
  signal: AbortSignal;
  status(): Promise<VaultStatus>;
  call<K extends keyof VaultCalls, T>(name: K, body: VaultCalls[K]): Promise<T>;
}

export async function vaultStatus(options: GlobalOptions): Promise<void> {
  const status = await withVault(options, (vault) => vault.status());
  await print(options.output, status, () => table(status));
}

export async function rotateKeys(options: GlobalOptions & { wait: boolean }, names: string[]): Promise<void> {
  const kinds = kindsNamed(names);
  const disk = await diskReport(homeOf(options)).catch(() => undefined);
  if (disk?.state === 'full') throw noRoom(disk.message);
  const status = await withVault(options, async (vault) => {
    await vault.call('rotate', { kinds });
    return options.wait ? await finished(options, vault) : await vault.status();
  });
  await print(options.output, status, () => `${sentence(status, kinds)}\n\n${table(status)}`);
}

export async function retireKeys(options: GlobalOptions & { force?: boolean }, names: string[]): Promise<void> {
  const kinds = kindsNamed(names);
  const { retired } = await withVault(options, (vault) =>
    vault.call<'retire', { retired: KeyStatus[] }>('retire', { kinds, force: options.force === true }),
  );
  await print(options.output, { retired }, () =>
    retired.length === 0
      ? 'there is no old key to retire\n'
      : retired.map(({ name, kind }) => `retired: ${name} (${kind})\n`).join(''),
  );
}

/** Everything that is sealed is written again. */
function noRoom(state: string): RookeryError {
  return new RookeryError('vault.disk-full', `the disk is ${state}`, {
    class: 'retryable',
    hint: 'make room on the disk of --home, then rotate',
  });
}

interface RevokeOptions extends GlobalOptions {
  cluster?: string;
  namespace: string;
}

export async function revokeCertificate(options: RevokeOptions, certificate: string): Promise<void> {
  const serial = serialOf(certificate);
  const cluster = options.cluster ? tenantName(options.namespace, options.cluster) : '';
  const { isNew } = await withVault(options, (vault) =>
    vault.call<'revoke', { isNew: boolean }>('revoke', { cluster, serial }),
  );
  const where = options.cluster ? `cluster ${options.cluster}` : 'the control plane';
  await print(options.output, { serial, cluster: options.cluster ?? '', isNew }, () =>
    isNew
      ? `certificate ${serial} is refused by ${where} from now on\n`
      : `certificate ${serial} was refused by ${where} already\n`,
  );
}

async function withVault<T>(options: GlobalOptions, work: (vault: VaultClient) => Promise<T>): Promise<T> {
  const { home, plane, signal, close } = await connect(options);
  const http = plane ? undefined : new HttpClient({ connection: await loadKubeconfig({ file: home.kubeconfig }) });
  const ask = async (verb: 'get' | 'post', call: string[], body?: unknown): Promise<unknown> => {
    if (plane) return await serveVault(plane.vault, { verb, rest: ['vault', ...call], body });
    const path = [VAULT_PATH, ...call].join('/');
    return await http?.json({ method: verb === 'get' ? 'GET' : 'POST', path, body, signal });
  };
  try {
    return await work({
      signal,
      status: async () => (await ask('get', [])) as VaultStatus,
      call: async <R>(name: string, body: unknown) => (await ask('post', [name], body)) as R,
    });
  } catch (error) {
    throw refusal(error);
  } finally {
    await http?.close();
    await close();
  }
}

/** The server's words; it says 409 while it cannot be done yet. */
function refusal(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  if (code === 409) return new RookeryError('vault.refused', message, { class: 'retryable', cause: error });
  if (code === 400) return new RookeryError('vault.refused', message, { class: 'user', cause: error });
  return error;
}

/** Until everything has its new keys. Ctrl-C only ends the waiting. */
async function finished(options: GlobalOptions, vault: VaultClient): Promise<VaultStatus> {
  const live = new LiveLines(process.stderr);
  const isShown = options.output === 'table' && process.stderr.isTTY;
  for (;;) {
    const status = await vault.status();
    if (!status.rotation) {
      if (isShown) live.clear();
      return status;
    }
    const { clustersDone, clusters, failed } = status.rotation;
    if (clusters > 0 && clustersDone === clusters && failed.length > 0) throw incomplete(failed);
    if (isShown) live.draw([`  ${clustersDone} of ${clusters} clusters have their new keys`]);
    await delay(POLL_MS, undefined, { signal: vault.signal });
  }
}

function incomplete(failed: string[]): RookeryError {
  return new RookeryError('vault.incomplete', `not everything has its new keys yet: ${failed.join('; ')}`, {
    class: 'retryable',
    hint: 'the rest has; these are tried again as long as the control plane runs. See `rookery vault status`',
  });
}

function kindsNamed(names: string[]): KeyKind[] {
  const known: readonly string[] = KEY_KINDS;
  const strange = names.find((name) => !known.includes(name));
  if (strange !== undefined) {
    throw new RookeryError('cli.key-kind', `there are no keys of the kind ${JSON.stringify(strange)}`, {
      class: 'user',
      hint: `use some of ${KEY_KINDS.join(', ')}`,
    });
  }
  return names.length === 0 ? [...KEY_KINDS] : (names as KeyKind[]);
}

/** Of a file with a certificate, or as it was given. */
function serialOf(certificate: string): string {
  if (existsSync(certificate)) {
    const text = readFileSync(certificate, 'utf8');
    const inKubeconfig = /client-certificate-data"?:\s*"?([A-Za-z0-9+/=]+)/.exec(text)?.[1];
    try {
      return new X509Certificate(inKubeconfig ? Buffer.from(inKubeconfig, 'base64') : text).serialNumber;
    } catch (cause) {
      throw new RookeryError('cli.certificate', `${certificate} holds no certificate`, { class: 'user', cause });
    }
  }
  const serial = certificate.replace(/^0x|:/gi, '').toUpperCase();
  if (/^[0-9A-F]{1,40}$/.test(serial)) return serial;
  throw new RookeryError('cli.certificate', `${JSON.stringify(certificate)} is no file and no serial number`, {
    class: 'user',
    hint: 'a serial number is hexadecimal: openssl x509 -noout -serial -in <file>',
  });
}

function sentence({ rotation }: VaultStatus, kinds: KeyKind[]): string {
  if (rotation) return `new keys are being made: ${rotation.kinds.join(', ')}`;
  return `new keys are in use: ${kinds.join(', ')}. Old ones are accepted until \`rookery vault retire\``;
}

function table({ rotation, keys, revokedCertificates }: VaultStatus): string {
  const now = Date.now();
  const rows = keys.map(({ kind, state, name, madeAt, neededBy }) => [
    kind,
    state,
    name,
    madeAt ? age(madeAt, now) : '<unknown>',
    neededBy.length > 2 ? `${neededBy.slice(0, 2).join('; ')}; ${neededBy.length - 2} more` : neededBy.join('; '),
  ]);
  const revoked = revokedCertificates.map(
    ({ cluster, serial, revokedAt }) =>
      `revoked: certificate ${serial} of ${cluster || 'the control plane'}, ${age(revokedAt, now)} ago\n`,
  );
  const underWay = rotation
    ? `rotation under way: ${rotation.kinds.join(', ')}; ${rotation.clustersDone} of ${rotation.clusters} clusters\n${rotation.failed.map((each) => `failed: ${each}\n`).join('')}`
    : '';
  return [columns(['KIND', 'STATE', 'KEY', 'AGE', 'NEEDED BY'], rows), underWay, ...revoked].join('');
}
