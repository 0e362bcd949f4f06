/**
 * Kubeconfigs that are data: the text of a Secret, or a file that another machine wrote. The author of such a text is not the user of this process, so it
 * may carry credentials and an address, and nothing that acts here: no program (exec, auth-provider), no file, no proxy, no impersonation, no server
 * whose certificate is not checked. The address must fit the place where the cluster is known to be. Kubeconfigs of the user who runs this process are
 * files, and `loadKubeconfig` reads them.
 */
import { isIP } from 'node:net';
import { RookeryError } from '../errors.ts';
import { hostGuard } from '../network/host-guard.ts';
import type { Connection, Headers } from './connection.ts';

/**
 * Where the API server may be. `this machine`: only for clusters whose maker was allowed to use this machine. A tenant of our own server is found under
 * its path, wherever that server is reached.
 */
export type Place = 'this machine' | 'another machine' | { tenant: string };

/** All that is taken from such a kubeconfig. */
interface KubeconfigData {
  name: string;
  server: string;
  /** PEM. */
  ca?: string;
  cert?: string;
  key?: string;
  token?: string;
  basic?: { username: string; password: string };
  serverName?: string;
  namespace?: string;
}

const MAX_BYTES = 64 * 1024;
const MAX_LINES = 1000;
/** A line as tools write it: little indentation, dashes of lists, then a key or a value. Keys that are collections, tags, anchors and deep flows take hours to read. */
const PLAIN_LINE = /^ {0,32}(- ){0,3}(?![?&*!%]|- )(?!(?:[^[{]*[[{]){5})/;
const CLUSTER_FIELDS = new Set(['server', 'certificate-authority-data', 'tls-server-name', 'disable-compression']);
const USER_FIELDS = new Set(['client-certificate-data', 'client-key-data', 'token', 'username', 'password']);
const ACTING_FIELDS: Record<string, string> = {
  exec: 'runs a program',
  'auth-provider': 'runs a program',
  tokenFile: 'reads a file of this machine',
  'certificate-authority': 'reads a file of this machine',
  'client-certificate': 'reads a file of this machine',
  'client-key': 'reads a file of this machine',
  'proxy-url': 'sends credentials to a proxy',
  'insecure-skip-tls-verify': 'sends credentials to a server whose certificate is not checked',
};

type Entry = Record<string, unknown>;

/** Throws a `RookeryError` with the code KUBECONFIG_REFUSED or KUBECONFIG_INVALID. */
export async function kubeconfigConnection(text: string, place: Place): Promise<Connection> {
  const data = await readKubeconfigData(text);
  checkPlace(data.server, place);
  const { server, ca, cert, key, serverName, namespace } = data;
  const authorization = authorizationOf(data);
  const headers: Headers = authorization ? { authorization } : {};
  return {
    ...{ server, ca, cert, key, serverName, namespace },
    headers: () => headers,
    ...(place === 'another machine' ? { lookup: hostGuard.lookup } : {}),
  };
}

/** The same cluster and credentials, written anew from what is known to be harmless; kubectl may use it. */
export async function harmlessKubeconfig(
  text: string,
  change: { name?: string; server?: string; user?: { token: string }; namespace?: string } = {},
): Promise<string> {
  const { stringify } = await import('yaml');
  const data = await readKubeconfigData(text);
  const { name = data.name, namespace = data.namespace } = change;
  const { ca, cert, key, token, basic, serverName } = data;
  const user = change.user ?? {
    'client-certificate-data': encoded(cert),
    'client-key-data': encoded(key),
    token,
    ...basic,
  };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: given({
          server: change.server ?? data.server,
          'certificate-authority-data': encoded(ca),
          'tls-server-name': serverName,
        }),
      },
    ],
    users: [{ name, user: given(user) }],
    contexts: [{ name, context: given({ cluster: name, user: name, namespace }) }],
    'current-context': name,
  });
}

async function readKubeconfigData(text: string): Promise<KubeconfigData> {
  const config = await parsed(text);
  const contextName = textOf(config['current-context'], 'current-context') ?? invalid('it has no current-context');
  for (const entry of entriesOf(config, 'cluster')) refuseActing(entry.value, CLUSTER_FIELDS);
  for (const entry of entriesOf(config, 'user')) refuseActing(entry.value, USER_FIELDS);
  const find = (list: List, name: string): Entry =>
    entriesOf(config, list).find((entry) => entry.name === name)?.value ?? invalid(`it has no ${list} "${name}"`);
  const context = find('context', contextName);
  const cluster = find('cluster', textOf(context.cluster, 'cluster') ?? invalid('its context names no cluster'));
  const userName = textOf(context.user, 'user');
  const user = userName ? find('user', userName) : {};
  const field = (entry: Entry, name: string) => textOf(entry[name], name);
  const username = field(user, 'username');
  return {
    name: contextName,
    server: serverOf(field(cluster, 'server') ?? invalid('its cluster has no server')),
    ca: decoded(field(cluster, 'certificate-authority-data')),
    cert: decoded(field(user, 'client-certificate-data')),
    key: decoded(field(user, 'client-key-data')),
    token: field(user, 'token'),
    ...(username === undefined ? {} : { basic: { username, password: field(user, 'password') ?? '' } }),
    serverName: field(cluster, 'tls-server-name'),
    namespace: field(context, 'namespace'),
  };
}

async function parsed(text: string): Promise<Entry> {
  if (Buffer.byteLength(text) > MAX_BYTES) throw refused(`it is larger than ${MAX_BYTES} bytes`);
  if (text.trimStart().startsWith('{')) return fromJson(text);
  const lines = text.split('\n');
  if (lines.length > MAX_LINES) throw refused(`it has more than ${MAX_LINES} lines`);
  const odd = lines.findIndex((line) => !PLAIN_LINE.test(line));
  if (odd >= 0) throw refused(`its line ${odd + 1} is not plain YAML`);
  // Loaded late: most processes read no kubeconfig.
  const { parse } = await import('yaml');
  let config: unknown;
  try {
    // Aliases can make a small text a huge object.
    config = parse(text, { maxAliasCount: 0, logLevel: 'error' });
  } catch (cause) {
    invalid(`it is not YAML (${(cause as Error).message.split('\n', 1)[0]})`);
  }
  return isMapping(config) ? config : invalid('it is not a mapping');
}

function fromJson(text: string): Entry {
  try {
    const config: unknown = JSON.parse(text);
    if (isMapping(config)) return config;
  } catch {
    // Said below.
  }
  return invalid('it begins with { and is not JSON');
}

type List = 'cluster' | 'user' | 'context';

function entriesOf(config: Entry, list: List): { name: unknown; value: Entry }[] {
  const entries = config[`${list}s`] ?? [];
  if (!Array.isArray(entries)) invalid(`its ${list}s are not a list`);
  return (entries as unknown[]).map((entry) => {
    if (!isMapping(entry)) return invalid(`an entry of its ${list}s is not a mapping`);
    const value = entry[list] ?? {};
    return { name: entry.name, value: isMapping(value) ? value : invalid(`a ${list} of it is not a mapping`) };
  });
}

function refuseActing(entry: Entry, known: Set<string>): void {
  for (const [field, value] of Object.entries(entry)) {
    if (known.has(field) || field === 'extensions' || value === null || value === '' || value === false) continue;
    if (field.startsWith('as')) throw refused(`its field ${field} impersonates another user`);
    throw refused(`its field ${field} ${ACTING_FIELDS[field] ?? 'is not known here'}`);
  }
}

function serverOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:') throw refused(`its server ${JSON.stringify(text)} is not an https address`);
  if (url.username || url.password || url.search || url.hash) {
    throw refused('its server has more than a host, a port and a path');
  }
  return url.href.replace(/\/+$/, '');
}

function checkPlace(server: string, place: Place): void {
  if (place === 'this machine') return;
  const { hostname, pathname } = new URL(server);
  if (place !== 'another machine') {
    if (pathname === `/clusters/${place.tenant}`) return;
    throw refused(`its server ${server} is not the tenant ${place.tenant} of this control plane`);
  }
  const host = hostname.replace(/^\[|\]$/g, '');
  const isLocalName = /^(.*\.)?localhost\.?$/i.test(host);
  if (!isLocalName && !(isIP(host) && hostGuard.refuses(host))) return;
  throw refused(
    `its server ${server} is an address of the machine Rookery runs on`,
    'use an address under which other machines reach that cluster, or let an administrator allow this namespace the use of the machine (ROOKERY_HOST_NAMESPACES, --host-namespaces)',
  );
}

function authorizationOf({ token, basic }: KubeconfigData): string | undefined {
  if (token) return `Bearer ${token}`;
  return basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
}

function isMapping(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Absent and empty are the same. */
function textOf(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return invalid(`its field ${what} is not text`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(value.trim())) return invalid(`its field ${what} has control characters`);
  return value.trim();
}

function decoded(data: string | undefined): string | undefined {
  return data && Buffer.from(data, 'base64').toString();
}

function encoded(pem: string | undefined): string | undefined {
  return pem && Buffer.from(pem).toString('base64');
}

function given(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1])));
}

function refused(why: string, hint?: string): RookeryError {
  return new RookeryError('KUBECONFIG_REFUSED', `the kubeconfig is refused: ${why}`, {
    class: 'user',
    hint: hint ?? 'use a kubeconfig with an https server, and with its certificates and its token inside',
  });
}

function invalid(why: string): never {
  throw new RookeryError('KUBECONFIG_INVALID', `the kubeconfig cannot be used: ${why}`, { class: 'user' });
}
