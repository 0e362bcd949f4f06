/** The keys that sign links into workspaces, in one private file: the newest signs, all are believed until the old ones are retired. */
import { readFile } from 'node:fs/promises';
import type { Clock, Random } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { createPrivate, writePrivate } from './files.ts';

export interface LinkKey {
  key: Buffer;
  /** Milliseconds since the epoch; absent for a key that an older version made. */
  madeAt?: number;
}

interface LinkKeyFile {
  version: 1;
  /** Newest first; keys in base64. */
  keys: { key: string; madeAt?: number }[];
}

const KEY_BYTES = 32;

export class LinkKeys {
  readonly #file: string;
  readonly #random: Random;
  readonly #clock: Clock;
  #keys: readonly LinkKey[];

  private constructor(file: string, keys: readonly LinkKey[], clock: Clock, random: Random) {
    this.#file = file;
    this.#keys = keys;
    this.#clock = clock;
    this.#random = random;
  }

  /** Reads the file, or makes it with a first key. */
  static async open(file: string, clock: Clock, random: Random): Promise<LinkKeys> {
    let text = await read(file);
    if (text === undefined) {
      const first = { key: random.bytes(KEY_BYTES), madeAt: clock.now() };
      await createPrivate(file, serialise([first]), random);
      text = (await read(file)) ?? '';
    }
    return new LinkKeys(file, parse(file, text), clock, random);
  }

  /** Newest first. */
  get all(): readonly LinkKey[] {
    return this.#keys;
  }

  /** A new key, unless one was made at or after `since`: asked again after a crash, it does nothing. */
  async rotate(since: number): Promise<void> {
    if ((this.#keys[0]?.madeAt ?? 0) >= since) return;
    await this.#write([{ key: this.#random.bytes(KEY_BYTES), madeAt: this.#clock.now() }, ...this.#keys]);
  }

  /** Forgets all but the newest: links that the others signed open nothing any more. */
  async retire(): Promise<void> {
    if (this.#keys.length > 1) await this.#write(this.#keys.slice(0, 1));
  }

  async #write(keys: readonly LinkKey[]): Promise<void> {
    await writePrivate(this.#file, serialise(keys), this.#random);
    this.#keys = keys;
  }
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function serialise(keys: readonly LinkKey[]): string {
  const file: LinkKeyFile = {
    version: 1,
    keys: keys.map(({ key, madeAt }) => ({ key: key.toString('base64'), ...(madeAt === undefined ? {} : { madeAt }) })),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

function parse(file: string, text: string): LinkKey[] {
  let keys: LinkKey[] = [];
  try {
    // Older versions kept one key and nothing else.
    const found = text.startsWith('{') ? (JSON.parse(text) as LinkKeyFile).keys : [{ key: text }];
    keys = found.map(({ key, madeAt }) => ({ key: Buffer.from(key, 'base64'), madeAt }));
  } catch {
    // Said below, as for any other content that is no key.
  }
  if (keys.length > 0 && keys.every(({ key }) => key.length === KEY_BYTES)) return keys;
  throw new RookeryError('vault.broken', `the key file ${file} cannot be used: it holds no whole key`, {
    hint: 'Restore it from a copy; it was left as it is. Without it, links into workspaces have to be made anew.',
  });
}
