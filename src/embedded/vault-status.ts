/** What keys there are, how old they are, and what still needs those that have been replaced. */
import { X509Certificate } from 'node:crypto';
import { type Clusters, type Generation, ROOT, type Visited } from '../apiserver/index.ts';
import { rfc3339 } from '../clock.ts';
import type { Keyring } from '../vault/keyring.ts';
import type { LinkKeys } from '../vault/link-keys.ts';
import { dataKeysOf, masterKeysOf } from '../vault/sealer.ts';
import type { Authority } from './authority.ts';
import type { KeyKind } from './rotation-file.ts';

export interface KeyStatus {
  kind: KeyKind;
  /** `old`: replaced, and still accepted. */
  state: 'in use' | 'old';
  /** Which of its kind, and in how many clusters. */
  name: string;
  /** When the oldest of them was made; absent where an older version did not note it. */
  madeAt?: string;
  /** Why an old one cannot be retired yet. */
  neededBy: string[];
}

export interface Revocation {
  cluster: string;
  serial: string;
  revokedAt: string;
}

/** What is read from the file of a cluster, or of a snapshot of it. */
export interface ClusterKeys {
  /** For people: `the root cluster`, `cluster demo`, `snapshot a of cluster demo`. */
  name: string;
  cluster: string;
  isSnapshot: boolean;
  masterKeys: number[];
  dataKeys: number[];
  tokens: Generation<undefined>[];
  clients: Generation<undefined>[];
  revoked: readonly { serial: string; revokedAt: number }[];
}

export interface KeyFacts {
  keyring: Keyring;
  linkKeys: LinkKeys;
  authority: Authority;
  clusters: ClusterKeys[];
  /** Clusters whose keys are not known, and why: any old key may be theirs. */
  unreadable: string[];
  /** Kubeconfigs that know only an old CA. */
  carriers: string[];
  /** Links that an old key has signed and that are valid. */
  links: string[];
  now: number;
}

const DAY_MS = 86_400_000;
/** Certificates are signed for a year at most. */
const CERTIFICATE_MS = 365 * DAY_MS;

export async function readClusterKeys(clusters: Clusters, cluster: string): Promise<ClusterKeys[]> {
  const found: ClusterKeys[] = [];
  await clusters.visit(cluster, async ({ store, credentials, snapshot }: Visited) => {
    const own = clusterText(cluster);
    const bare = (all: readonly Generation<unknown>[]) => all.map((each) => ({ ...each, value: undefined }));
    found.push({
      name: snapshot === undefined ? own : `snapshot ${snapshot} of ${own}`,
      cluster,
      isSnapshot: snapshot !== undefined,
      masterKeys: masterKeysOf(store.meta),
      dataKeys: dataKeysOf(store.meta),
      tokens: bare(credentials.tokenKeys.all),
      clients: bare(credentials.clientCas.all),
      revoked: credentials.revoked,
    });
  });
  return found;
}

/** For people. */
export function clusterText(name: string): string {
  return name === ROOT ? 'the root cluster' : `cluster ${name}`;
}

export function keyStatuses(facts: KeyFacts): KeyStatus[] {
  return [
    ...dataStatuses(facts),
    ...linkStatuses(facts),
    ...clusterStatuses('tokens', facts),
    ...clusterStatuses('clients', facts),
    ...caStatuses(facts),
  ];
}

export function revocations({ clusters }: Pick<KeyFacts, 'clusters'>): Revocation[] {
  return clusters
    .filter(({ isSnapshot }) => !isSnapshot)
    .flatMap(({ cluster, revoked }) =>
      revoked.map(({ serial, revokedAt }) => ({ cluster, serial, revokedAt: rfc3339(revokedAt) })),
    );
}

function dataStatuses({ keyring, clusters, unreadable }: KeyFacts): KeyStatus[] {
  return keyring.list.map(({ number, madeAt }) => {
    const isNewest = number === keyring.newest;
    const users = clusters.filter((each) => each.masterKeys.includes(number)).map(({ name }) => name);
    const halfway = clusters
      .filter((each) => each.dataKeys.length > 1)
      .map(({ name }) => `${name}, not all sealed again`);
    const name = `master key ${number}`;
    return status('data', isNewest, name, madeAt, isNewest ? [] : [...new Set([...users, ...halfway, ...unreadable])]);
  });
}

function linkStatuses({ linkKeys, links, now }: KeyFacts): KeyStatus[] {
  const newest = linkKeys.all[0]?.madeAt ?? now;
  return linkKeys.all.map(({ madeAt }, i) => {
    // Links of older versions were not noted; they lived for 31 days at most.
    const until = newest + 31 * DAY_MS;
    const unknown = madeAt === undefined && until > now ? [`links of an older version, until ${rfc3339(until)}`] : [];
    return status(
      'links',
      i === 0,
      i === 0 ? 'key of links' : `key of links, ${i} before`,
      madeAt,
      i === 0 ? [] : [...links, ...unknown],
    );
  });
}

/** One line for the keys in use and one for the old ones, over all clusters. */
function clusterStatuses(kind: 'tokens' | 'clients', { clusters, unreadable, now }: KeyFacts): KeyStatus[] {
  const what = kind === 'tokens' ? 'key of ServiceAccount tokens' : 'client CA';
  const own = clusters.filter((each) => !each.isSnapshot && each[kind].length > 0);
  const current = own.flatMap((each) => each[kind].slice(0, 1));
  const old = own.flatMap((each) => each[kind].slice(1));
  const needed = own.flatMap((each) => {
    const until = lastUse(kind, each[kind], now);
    return until === undefined ? [] : [`${kind === 'tokens' ? 'tokens' : 'certificates'} of ${each.name}, ${until}`];
  });
  const line = (isNewest: boolean, keys: Generation<undefined>[], neededBy: string[]) =>
    keys.length === 0 ? [] : [status(kind, isNewest, `${what}, ${keys.length} of them`, oldest(keys), neededBy)];
  return [...line(true, current, []), ...line(false, old, [...needed, ...unreadable])];
}

/** Until when something that an old key has signed is valid; undefined when nothing is. */
function lastUse(
  kind: 'tokens' | 'clients',
  [newest, ...old]: Generation<undefined>[],
  now: number,
): string | undefined {
  const ends = old.map(({ madeAt, usedUntil }) => {
    if (usedUntil !== undefined || madeAt !== undefined) return usedUntil ?? 0;
    return kind === 'clients' ? (newest?.madeAt ?? now) + CERTIFICATE_MS : Number.POSITIVE_INFINITY;
  });
  const last = Math.max(0, ...ends);
  if (last <= now) return undefined;
  return last === Number.POSITIVE_INFINITY ? 'issued by an older version that noted no end' : `until ${rfc3339(last)}`;
}

function caStatuses({ authority, carriers }: KeyFacts): KeyStatus[] {
  const { retiring, madeAt } = authority;
  return [
    status('ca', true, 'CA of the server', madeAt, []),
    ...retiring.map((pem, i) => {
      const since = Date.parse(new X509Certificate(pem).validFrom);
      return status('ca', false, `CA of the server, ${i + 1} before`, since, carriers);
    }),
  ];
}

function oldest(keys: Generation<undefined>[]): number | undefined {
  const times = keys.map(({ madeAt }) => madeAt);
  return times.includes(undefined) ? undefined : Math.min(...(times as number[]));
}

function status(kind: KeyKind, isNewest: boolean, name: string, at: number | undefined, neededBy: string[]): KeyStatus {
  const madeAt = at === undefined ? {} : { madeAt: rfc3339(at) };
  return { kind, state: isNewest ? 'in use' : 'old', name, ...madeAt, neededBy };
}
