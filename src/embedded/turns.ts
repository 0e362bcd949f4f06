/**
 * Turns of the event loop, for callers whose store is in this process: it answers without ever waiting for anything, so that a thousand reconciles
 * would be one turn, and whoever asks over the network would wait for the end of it. Once a turn has been long, callers queue for the next ones.
 */

/** Real time, not that of a clock: it is about who has the processor. */
const LONG_MS = 10;
/** A process that was not given the processor for a while has done nothing yet: it is not made to wait for that. */
const MANY = 25;

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #startedAt: number | undefined;
  #calls = 0;

  /** Undefined: go on at once. */
  take(): Promise<void> | undefined {
    if (this.#startedAt === undefined) this.#begin();
    if (++this.#calls <= MANY || performance.now() - (this.#startedAt as number) < LONG_MS) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #begin(): void {
    this.#startedAt = performance.now();
    this.#calls = 0;
    setImmediate(() => this.#end());
  }

  /** One at a time: what each goes on with belongs to a turn of its own, until that one has been long. */
  #end(): void {
    this.#startedAt = undefined;
    const next = this.#waiting.shift();
    if (!next) return;
    this.#begin();
    next();
  }
}
