/** What happened to a cluster, from all who tell: the history and the journal of the object that asks for it, and the events about both. */
import type { KubeObject } from '../api/object.ts';
import { readJournal } from '../controllers/journal.ts';
import { events, listAll, type ObjectStore } from '../kube/index.ts';

export interface JournalLine {
  /** RFC 3339. */
  at: string;
  subject: string;
  reason: string;
  message: string;
  /** Everything a tool said. */
  output?: string;
}

export async function journalOf(
  store: ObjectStore,
  objects: readonly KubeObject[],
  signal?: AbortSignal,
): Promise<JournalLine[]> {
  const lines: JournalLine[] = [];
  for (const object of objects) {
    const subject = `${object.kind} ${object.metadata.name}`;
    for (const entry of await readJournal(store, object, signal)) lines.push({ subject, ...entry });
    const { namespace, uid } = object.metadata;
    const { items } = await listAll(store, events, { namespace, fieldSelector: `involvedObject.uid=${uid}`, signal });
    for (const event of items) {
      const at = event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? '';
      lines.push({ at, subject, reason: event.reason, message: event.message });
    }
  }
  const unique = new Map(lines.map((line) => [idOf(line), line]));
  return [...unique.values()].sort((a, b) => a.at.localeCompare(b.at));
}

/** What a history and an event both tell is told once. */
export function idOf({ at, reason, message, output }: JournalLine): string {
  return JSON.stringify([at, reason, message, output !== undefined]);
}
