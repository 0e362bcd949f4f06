/**
 * What happened to a cluster, with the tools' own words: its history, and what each run of a tool said. Runs are kept in the
 * ConfigMap `<object>-journal`, which belongs to the object and goes with it; the oldest are dropped when it grows too large.
 */
import type { KubeObject } from '../api/object.ts';
import { configMaps } from '../api/resources.ts';
import { rfc3339 } from '../clock.ts';
import { ignoreNotFound, type ObjectStore, ownerReference } from '../kube/index.ts';
import type { Progress } from '../provisioners/provisioner.ts';
import { redactText } from '../telemetry/redact.ts';
import { CLUSTER_NAME_LABEL } from './ownership.ts';

export interface JournalEntry {
  /** RFC 3339. */
  at: string;
  reason: string;
  message: string;
  /** Everything a tool said. */
  output?: string;
}

type Transcript = NonNullable<Progress['transcript']>;

const KEY = 'journal';
const MAX_BYTES = 256 * 1024;
const MAX_ENTRY_BYTES = 64 * 1024;

/** Adds what a run of a tool said, once. */
export async function writeJournal(
  store: ObjectStore,
  owner: KubeObject,
  transcript: Transcript,
  signal?: AbortSignal,
): Promise<void> {
  const { namespace } = owner.metadata;
  const name = journalName(owner);
  const known = await store.get(configMaps, { namespace, name }, { signal }).catch(ignoreNotFound);
  const entries = parse(known);
  const entry: JournalEntry = {
    at: rfc3339(transcript.startedAt),
    reason: 'ToolRan',
    message: transcript.title,
    output: redactText(transcript.text).slice(-MAX_ENTRY_BYTES),
  };
  if (entries.some(({ at, message }) => at === entry.at && message === entry.message)) return;
  const cluster = owner.metadata.labels?.[CLUSTER_NAME_LABEL];
  const configMap: KubeObject = {
    apiVersion: 'v1',
    kind: configMaps.kind,
    metadata: {
      name,
      namespace,
      ...(cluster ? { labels: { [CLUSTER_NAME_LABEL]: cluster } } : {}),
      ownerReferences: [ownerReference(owner, { controller: true, blockOwnerDeletion: true })],
    },
    data: { [KEY]: text([...entries, entry]) },
  };
  await store.apply(configMaps, configMap, { fieldManager: 'rookery', force: true, signal });
}

/** Everything that is known of what happened to an object, oldest first. */
export async function readJournal(
  store: ObjectStore,
  object: KubeObject,
  signal?: AbortSignal,
): Promise<JournalEntry[]> {
  const key = { namespace: object.metadata.namespace, name: journalName(object) };
  const runs = parse(await store.get(configMaps, key, { signal }).catch(ignoreNotFound));
  const history: { timestamp: string; reason: string; message?: string }[] = object.status?.history ?? [];
  const told = history.map(({ timestamp, reason, message = '' }) => ({ at: timestamp, reason, message }));
  return [...told, ...runs].sort((a, b) => a.at.localeCompare(b.at));
}

export function journalName(object: KubeObject): string {
  return `${object.metadata.name}-journal`;
}

function parse(configMap: KubeObject | undefined): JournalEntry[] {
  const lines: string[] = configMap?.data?.[KEY]?.split('\n').filter(Boolean) ?? [];
  return lines.map((line) => JSON.parse(line) as JournalEntry);
}

/** The newest entries that fit. */
function text(entries: JournalEntry[]): string {
  const lines: string[] = [];
  let bytes = 0;
  for (const entry of entries.toReversed()) {
    const line = JSON.stringify(entry);
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_BYTES) break;
    lines.unshift(line);
  }
  return lines.join('\n');
}
