/** Writes a large value as JSON in steps: one call for megabytes holds the event loop for hundreds of milliseconds. */

/** Parts of a value that are written in one call. */
const NARROW = 200;
/** Characters between two steps. */
const PIECE = 32 * 1024;

/** As JSON.stringify writes it, with `indent` as it does with two spaces. */
export function* jsonTextInPieces(value: unknown, indent = false): Generator<void, string> {
  return (yield* new Writer(indent).write(value, '')) ?? 'null';
}

class Writer {
  readonly #isIndented: boolean;
  #written = 0;
  /** Containers that are known to have many parts. */
  readonly #wide = new Set<object>();
  /** Containers that are being written: one that is in itself has no JSON. */
  readonly #open = new Set<unknown>();

  constructor(isIndented: boolean) {
    this.#isIndented = isIndented;
  }

  /** Undefined for what JSON has no form for. */
  *write(value: unknown, margin: string): Generator<void, string | undefined> {
    if (this.#isNarrow(value)) return this.#atOnce(value, margin);
    if (this.#open.has(value)) throw new TypeError('a value that is a part of itself has no JSON');
    this.#open.add(value);
    const inner = `${margin}  `;
    const parts: string[] = [];
    const isArray = Array.isArray(value);
    for (const key of Object.keys(value as object)) {
      const child = (value as Record<string, unknown>)[key];
      const text = this.#isNarrow(child) ? this.#atOnce(child, inner) : yield* this.write(child, inner);
      if (isArray) parts.push(text ?? 'null');
      else if (text !== undefined) parts.push(`${JSON.stringify(key)}:${this.#isIndented ? ' ' : ''}${text}`);
      this.#written += text?.length ?? 0;
      if (this.#written < PIECE) continue;
      this.#written = 0;
      yield;
    }
    this.#open.delete(value);
    const [open, close] = isArray ? '[]' : '{}';
    if (!this.#isIndented || parts.length === 0) return `${open}${parts.join(',')}${close}`;
    return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`;
  }

  #atOnce(value: unknown, margin: string): string | undefined {
    if (!this.#isIndented) return JSON.stringify(value);
    return JSON.stringify(value, null, 2)?.replaceAll('\n', `\n${margin}`);
  }

  /** Whether it has few parts. Counts no further than it must, and a container of many only once. */
  #isNarrow(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return true;
    const open: object[] = [value];
    let count = 0;
    for (let one = open.pop(); one; one = open.pop()) {
      if (!this.#wide.has(one)) {
        const before = count;
        for (const key in one) {
          if (++count > NARROW) break;
          const part = (one as Record<string, unknown>)[key];
          if (typeof part === 'object' && part !== null) open.push(part);
        }
        if (count <= NARROW) continue;
        if (count - before > NARROW / 2) this.#wide.add(one);
      }
      this.#wide.add(value);
      return false;
    }
    return true;
  }
}
