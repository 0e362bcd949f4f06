/**
 * Reads the kubeconfig of the user who runs this process, a file of theirs, into a `Connection`: tokens, token files (read again when they may have changed), client
 * certificates, CAs, server path prefixes, `tls-server-name`, `insecure-skip-tls-verify`, impersonation. Exec and
 * auth-provider plugins go through @kubernetes/client-node, which is loaded only for them (it costs about a second).
 * Text that others wrote (a Secret, another machine) never comes here: `kubeconfig-data.ts` reads that.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import type { Connection, Headers } from './connection.ts';

interface ClusterEntry {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
}
interface UserEntry {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  as?: string;
  'as-uid'?: string;
  'as-groups'?: string[];
  'as-user-extra'?: Record<string, string[]>;
  exec?: unknown;
  'auth-provider'?: unknown;
}
interface ContextEntry {
  cluster?: string;
  user?: string;
  namespace?: string;
}
interface KubeconfigFile {
  'current-context'?: string;
  clusters?: { name: string; cluster: ClusterEntry }[];
  users?: { name: string; user: UserEntry }[];
  contexts?: { name: string; context: ContextEntry }[];
}

export interface KubeconfigSource {
  file: string;
  /** Default: `current-context`. */
  context?: string;
  clock?: Clock;
}

/** Service account tokens are rotated on disk; client-go reads them again after about this long. */
const TOKEN_FILE_AGE = 10_000;
const IN_CLUSTER = '/var/run/secrets/kubernetes.io/serviceaccount';

export async function loadKubeconfig(source: KubeconfigSource): Promise<Connection> {
  const text = await read(source.file);
  const { parse } = await import('yaml');
  const config = parse(text) as KubeconfigFile | null;
  if (typeof config !== 'object' || config === null) fail(`${source.file} is not a mapping`);
  const contextName = source.context ?? config['current-context'] ?? fail('The kubeconfig has no current-context');
  const context = find<ContextEntry>(config, 'context', contextName);
  const cluster = find<ClusterEntry>(
    config,
    'cluster',
    context.cluster ?? fail(`Context ${contextName} names no cluster`),
  );
  const user = context.user ? find<UserEntry>(config, 'user', context.user) : {};
  const base = dirname(resolve(source.file));
  const inline = (data?: string, file?: string) =>
    data ? Buffer.from(data, 'base64').toString() : file ? read(resolve(base, file)) : undefined;

  const connection: Connection = {
    server: (cluster.server ?? fail(`Cluster ${context.cluster} has no server`)).replace(/\/+$/, ''),
    ca: await inline(cluster['certificate-authority-data'], cluster['certificate-authority']),
    cert: await inline(user['client-certificate-data'], user['client-certificate']),
    key: await inline(user['client-key-data'], user['client-key']),
    serverName: cluster['tls-server-name'],
    insecure: cluster['insecure-skip-tls-verify'],
    proxyUrl: cluster['proxy-url'],
    namespace: context.namespace,
  };
  const impersonation = impersonationHeaders(user);
  if (user.exec || user['auth-provider']) {
    const plugin = await pluginAuth(text, contextName);
    connection.cert ??= plugin.cert;
    connection.key ??= plugin.key;
    connection.headers = async () => ({ ...impersonation, ...(await plugin.headers()) });
  } else {
    const authorization = authorizationOf(user, base, source.clock ?? systemClock);
    connection.headers = async () => {
      const value = await authorization();
      return value ? { ...impersonation, authorization: value } : impersonation;
    };
  }
  return connection;
}

/** The connection of a pod, from its service account. */
export async function inClusterConnection(
  options: { env?: NodeJS.ProcessEnv; directory?: string; clock?: Clock } = {},
): Promise<Connection> {
  const { env = process.env, directory = IN_CLUSTER, clock = systemClock } = options;
  const host = env.KUBERNETES_SERVICE_HOST ?? fail('Not in a cluster: KUBERNETES_SERVICE_HOST is not set');
  const token = tokenFromFile(`${directory}/token`, clock);
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT ?? '443'}`,
    ca: await read(`${directory}/ca.crt`),
    namespace: (await read(`${directory}/namespace`)).trim(),
    headers: async () => ({ authorization: `Bearer ${await token()}` }),
  };
}

function authorizationOf(user: UserEntry, base: string, clock: Clock): () => Promise<string | undefined> {
  // tokenFile wins over token, as in client-go.
  if (user.tokenFile) {
    const token = tokenFromFile(resolve(base, user.tokenFile), clock);
    return async () => `Bearer ${await token()}`;
  }
  if (user.token) return async () => `Bearer ${user.token}`;
  if (user.username === undefined) return async () => undefined;
  const basic = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
  return async () => `Basic ${basic}`;
}

function tokenFromFile(file: string, clock: Clock): () => Promise<string> {
  let cached: { token: string; readAt: number } | undefined;
  return async () => {
    if (!cached || clock.now() - cached.readAt >= TOKEN_FILE_AGE) {
      try {
        cached = { token: (await read(file)).trim(), readAt: clock.now() };
      } catch (error) {
        // A rotation replaces the file; the old token is good for a while yet.
        if (!cached) throw error;
      }
    }
    return cached.token;
  };
}

function impersonationHeaders(user: UserEntry): Headers {
  const headers: Headers = {};
  if (user.as) headers['impersonate-user'] = user.as;
  if (user['as-uid']) headers['impersonate-uid'] = user['as-uid'];
  if (user['as-groups']?.length) headers['impersonate-group'] = user['as-groups'];
  for (const [key, values] of Object.entries(user['as-user-extra'] ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values;
  }
  return headers;
}

async function pluginAuth(text: string, context: string) {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromString(text);
  config.setCurrentContext(context);
  const ask = async () => {
    const options: { headers?: Record<string, string>; cert?: string | Buffer; key?: string | Buffer } = {};
    await config.applyToHTTPSOptions(options as Parameters<typeof config.applyToHTTPSOptions>[0]);
    return options;
  };
  const first = await ask();
  return {
    cert: first.cert?.toString(),
    key: first.key?.toString(),
    headers: async () => {
      const headers = (await ask()).headers ?? {};
      return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
    },
  };
}

function find<V>(config: KubeconfigFile, list: 'cluster' | 'user' | 'context', name: string): V {
  const entries = (config[`${list}s`] ?? []) as ({ name: string } & Record<string, unknown>)[];
  const entry = entries.find((candidate) => candidate.name === name);
  return (entry?.[list] as V | undefined) ?? fail(`The kubeconfig has no ${list} "${name}"`);
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new RookeryError('KUBECONFIG_UNREADABLE', `Cannot read ${file}`, { class: 'user', cause });
  }
}

function fail(message: string): never {
  throw new RookeryError('KUBECONFIG_INVALID', message, { class: 'user' });
}
