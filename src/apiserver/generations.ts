/** A key and those it replaced: the newest signs, all are believed until the old ones are retired. Kept as one setting of the store. */
import type { Clock } from '../clock.ts';

/** All times are milliseconds since the epoch. */
export interface Generation<T> {
  value: T;
  /** Absent for a key that an older version made. */
  madeAt?: number;
  /** The last moment that something it signed is valid, as far as that was noted. */
  usedUntil?: number;
}

export interface GenerationsOptions<T> {
  read(): string | undefined;
  write(text: string): void;
  /** Older versions kept one key and no list. */
  readSingle(text: string): T;
  clock: Clock;
}

/** Uses are noted by the day: one write a day, not one for each token. */
const NOTE_MS = 86_400_000;

export class Generations<T> {
  readonly #options: GenerationsOptions<T>;
  #known: readonly Generation<T>[] | undefined;

  constructor(options: GenerationsOptions<T>) {
    this.#options = options;
  }

  /** Newest first; the same array until something changes. */
  get all(): readonly Generation<T>[] {
    if (this.#known) return this.#known;
    const text = this.#options.read();
    const found: Generation<T>[] = text?.startsWith('[')
      ? JSON.parse(text)
      : text === undefined
        ? []
        : [{ value: this.#options.readSingle(text) }];
    // Another request may make the first one.
    if (found.length > 0) this.#known = found;
    return found;
  }

  get newest(): Generation<T> | undefined {
    return this.all[0];
  }

  /** The key to sign with, made when there is none. */
  ensure(make: () => T): T {
    return this.newest?.value ?? this.#add(make());
  }

  /** Takes the place of all there were. */
  replace(value: T): void {
    this.#keep([this.#fresh(value)]);
  }

  /** A new key, unless one was made at or after `since`: asked again after a crash, it does nothing. Where there is none, none is old. */
  rotate(since: number, make: () => T): void {
    if (this.newest && (this.newest.madeAt ?? 0) < since) this.#add(make());
  }

  /** Forgets all but the newest. */
  retire(): void {
    if (this.newest && this.all.length > 1) this.#keep([this.newest]);
  }

  /** What the newest has signed is valid until then. */
  noteUse(until: number): void {
    const [newest, ...old] = this.all;
    if (!newest || until <= (newest.usedUntil ?? 0)) return;
    this.#keep([{ ...newest, usedUntil: Math.ceil(until / NOTE_MS) * NOTE_MS }, ...old]);
  }

  #add(value: T): T {
    this.#keep([this.#fresh(value), ...this.all]);
    return value;
  }

  #fresh(value: T): Generation<T> {
    return { value, madeAt: this.#options.clock.now() };
  }

  #keep(list: readonly Generation<T>[]): void {
    this.#options.write(JSON.stringify(list));
    this.#known = list;
  }
}
