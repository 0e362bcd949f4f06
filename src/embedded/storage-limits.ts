/** How much each tenant may store: what its record says, or else what the operator gives to all, and never more than the operator allows. */
import type { Usage } from '../apiserver/index.ts';
import type { StorageSettings } from '../config.ts';
import type { TenantRecords } from './tenant-records.ts';

export class StorageLimits {
  readonly #records: Pick<TenantRecords, 'get'>;
  readonly #settings: StorageSettings;
  /** Asked for with every write: a record is a file. */
  readonly #known = new Map<string, Usage>();

  constructor(records: Pick<TenantRecords, 'get'>, settings: StorageSettings) {
    this.#records = records;
    this.#settings = settings;
  }

  get max(): Usage {
    return this.#settings.max;
  }

  of(tenant: string): Usage {
    const known = this.#known.get(tenant) ?? this.#read(tenant);
    this.#known.set(tenant, known);
    return known;
  }

  /** Its record is another one now, or gone. */
  forget(tenant: string): void {
    this.#known.delete(tenant);
  }

  #read(tenant: string): Usage {
    const { max, ...given } = this.#settings;
    const wanted = { ...given, ...this.#records.get(tenant)?.storage };
    return { bytes: Math.min(wanted.bytes, max.bytes), objects: Math.min(wanted.objects, max.objects) };
  }
}
