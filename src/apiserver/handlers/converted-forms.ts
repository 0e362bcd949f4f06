/** Stored objects as a webhook converted them: beside each stored version, and the last ones used by what they are. */
import type { KubeObject } from '../../api/object.ts';
import type { Conversion, Resource } from '../resource.ts';
import type { Stored } from '../store/store.ts';

/** Characters of stored JSON whose converted forms one CRD keeps: lists are asked for again and again. */
const KEPT_CHARACTERS = 8 * 1024 * 1024;

/** By apiVersion; kept exactly as long as the stored version is. Read-only. */
const forms = new WeakMap<Stored, Map<string, KubeObject>>();
const recent = new WeakMap<Conversion, RecentForms>();

/** Undefined where no webhook is needed to make it. Throws when it was not converted before. */
export function convertedForm(resource: Resource, stored: Stored, apiVersion: string): KubeObject | undefined {
  if (!resource.custom?.conversion || storedIn(stored) === apiVersion) return undefined;
  const found = forms.get(stored)?.get(apiVersion);
  if (!found) throw new Error(`${stored.key.resource} ${stored.key.name} was read before it was converted`);
  return found;
}

export function knownForm(conversion: Conversion, stored: Stored, apiVersion: string): KubeObject | undefined {
  const known = forms.get(stored)?.get(apiVersion);
  if (known) return known;
  const kept = recent.get(conversion)?.get(idOf(stored, apiVersion));
  if (kept) attach(stored, apiVersion, kept);
  return kept;
}

export function keepForm(conversion: Conversion, stored: Stored, apiVersion: string, object: KubeObject): void {
  attach(stored, apiVersion, object);
  let kept = recent.get(conversion);
  if (!kept) {
    kept = new RecentForms();
    recent.set(conversion, kept);
  }
  kept.set(idOf(stored, apiVersion), object, stored.json.length);
}

export function attach(stored: Stored, apiVersion: string, object: KubeObject): void {
  const known = forms.get(stored);
  if (known) known.set(apiVersion, object);
  else forms.set(stored, new Map([[apiVersion, object]]));
}

const START = /^\{"kind":"[^"\\]*","apiVersion":"([^"\\]*)"/;

/** The version an object is stored in, without parsing it where that is possible. */
export function storedIn(stored: Stored): string {
  return START.exec(stored.json)?.[1] ?? stored.object().apiVersion;
}

/** A key and a resource version are one content. */
function idOf({ key, rv }: Stored, apiVersion: string): string {
  return `${key.namespace}/${key.name}@${rv} ${apiVersion}`;
}

class RecentForms {
  /** A Map keeps insertion order: the first is the one not used for longest. */
  readonly #kept = new Map<string, { object: KubeObject; size: number }>();
  #size = 0;

  get(id: string): KubeObject | undefined {
    const entry = this.#kept.get(id);
    if (!entry) return undefined;
    this.#kept.delete(id);
    this.#kept.set(id, entry);
    return entry.object;
  }

  set(id: string, object: KubeObject, size: number): void {
    this.#size += size - (this.#kept.get(id)?.size ?? 0);
    this.#kept.set(id, { object, size });
    for (const [oldest, entry] of this.#kept) {
      if (this.#size <= KEPT_CHARACTERS) break;
      this.#kept.delete(oldest);
      this.#size -= entry.size;
    }
  }
}
