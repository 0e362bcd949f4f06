/** Virtual time and seeded randomness: a whole controller process runs in them, the same way every time. */
import type { Clock, Random } from '../../clock.ts';

interface Timer {
  at: number;
  order: number;
  callback: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  #order = 0;
  #timers: Timer[] = [];

  constructor(now = Date.UTC(2030, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), order: this.#order++, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Lets `ms` pass: timers fire in order, and what they set off runs before the next one. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#due(end); next; next = this.#due(end)) {
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = end;
  }

  #due(end: number): Timer | undefined {
    const due = this.#timers.filter((timer) => timer.at <= end);
    return due.sort((a, b) => a.at - b.at || a.order - b.order)[0];
  }
}

/** Lets everything that is ready run: promises, and what they start. */
export async function settle(rounds = 3): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** mulberry32: small, even enough, the same on every machine. */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0;
  const float = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const bytes = (size: number) => Buffer.from(Array.from({ length: size }, () => Math.floor(float() * 256)));
  const uuid = () => {
    const hex = bytes(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  return { bytes, uuid, float };
}
