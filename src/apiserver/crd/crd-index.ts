/**
 * What the controller must know of every CRD at a start, without parsing megabytes of schemas: a copy of the CRDs less
 * their schemas, kept beside the objects and valid as long as the resource version agrees.
 */
import type { Store, Stored } from '../store/store.ts';
import type { Crd } from './crd.ts';

/** Real time, not that of a clock: it is about who has the processor. */
const SAVE_MS = 500;
const META_KEY = 'crd-index';

export class CrdIndex {
  readonly #store: Store;
  #entries: Map<string, Crd> | undefined;
  #saving: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Summaries of the stored CRDs; only those the index does not know in this version are parsed. */
  load(items: Stored[]): Crd[] {
    const entries = this.#known();
    let stale = false;
    const crds = items.map((item) => {
      const entry = entries.get(item.key.name);
      if (entry?.metadata.resourceVersion === String(item.rv)) return entry;
      stale = true;
      const crd = summaryOf(item.object() as Crd);
      entries.set(item.key.name, crd);
      return crd;
    });
    if (stale) this.#save();
    return crds;
  }

  remember(crd: Crd): void {
    this.#known().set(crd.metadata.name as string, crd);
    this.#save();
  }

  forget(name: string): void {
    if (this.#known().delete(name)) this.#save();
  }

  #known(): Map<string, Crd> {
    this.#entries ??= new Map(parse(this.#store.meta.get(META_KEY)).map((crd) => [crd.metadata.name as string, crd]));
    return this.#entries;
  }

  /** Many CRDs often arrive together: one save for all of them. What a crash loses is parsed at the next start. */
  #save(): void {
    this.#saving ??= setTimeout(() => this.flush(), SAVE_MS).unref();
  }

  /** Saves what is not saved yet. */
  flush(): void {
    if (this.#saving === undefined) return;
    clearTimeout(this.#saving);
    this.#saving = undefined;
    try {
      this.#store.meta.set(META_KEY, JSON.stringify([...this.#known().values()]));
    } catch {
      // The store was closed meanwhile; the index is only a short cut.
    }
  }
}

function parse(text: string | undefined): Crd[] {
  try {
    return text === undefined ? [] : (JSON.parse(text) as Crd[]);
  } catch {
    return [];
  }
}

/** The CRD without the schemas of its versions and without managedFields. */
export function summaryOf(crd: Crd): Crd {
  const { managedFields: _, ...metadata } = crd.metadata;
  return {
    ...crd,
    metadata,
    spec: { ...crd.spec, versions: crd.spec.versions.map(({ schema: __, ...version }) => version) },
  };
}
