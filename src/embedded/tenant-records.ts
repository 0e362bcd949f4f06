/** What is known of each tenant without opening it, one small file each: whose it is, how it is made, whether it shall stay asleep. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure } from '../errors.ts';
import type { TenantShape } from '../provisioners/virtual/tenants.ts';

export interface TenantRecord extends TenantShape {
  /** Uid of the object it belongs to. */
  owner: string;
  /** The version of the server that finished making it; absent while that is under way. */
  madeBy?: string;
  /** Its store has been there, though something of it is being made just now. */
  wasMade?: boolean;
  isSuspended?: boolean;
}

export class TenantRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What cannot be read counts as not written: a power cut may leave an empty file. */
  get(name: string): TenantRecord | undefined {
    try {
      return JSON.parse(readFileSync(this.#file(name), 'utf8')) as TenantRecord;
    } catch (error) {
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Its store was made once: without its file it is lost. */
  wasMade(name: string): boolean {
    const record = this.get(name);
    return record?.madeBy !== undefined || record?.wasMade === true;
  }

  async put(name: string, record: TenantRecord): Promise<void> {
    const fresh = `${this.#file(name)}.new`;
    const write = () => writeFile(fresh, JSON.stringify(record), { mode: 0o600 });
    await write().catch(async (error) => {
      if (error.code !== 'ENOENT') throw diskFailure(error);
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await write();
    });
    await rename(fresh, this.#file(name));
  }

  async delete(name: string): Promise<void> {
    await Promise.all(['.new', ''].map((suffix) => rm(this.#file(name) + suffix, { force: true })));
  }

  names(): string[] {
    try {
      const files = readdirSync(this.#folder);
      return files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  #file(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}
