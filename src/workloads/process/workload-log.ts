/** What happened to the shells of one workspace, a line each, in a file beside its home. Bounded: the older half goes when it is full. */
import { appendFile, readFile, rename, stat, writeFile } from 'node:fs/promises';
import type { Clock } from '../../clock.ts';

const MAX_BYTES = 256 * 1024;
const LINE_MAX = 2000;

export class WorkloadLog {
  readonly #clock: Clock;
  #last = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A log that cannot be written keeps nobody from their work. */
  write(file: string, text: string): Promise<void> {
    // No two lines have the same time, so that whoever follows can say where they are.
    this.#last = Math.max(this.#clock.now(), this.#last + 1);
    const line = `${new Date(this.#last).toISOString()} ${text.replaceAll(/\s+/g, ' ').trim().slice(0, LINE_MAX)}\n`;
    this.#writing = this.#writing.then(() => this.#append(file, line));
    return this.#writing;
  }

  /** Nothing is being written any more. */
  settled(): Promise<void> {
    return this.#writing;
  }

  async #append(file: string, line: string): Promise<void> {
    await appendFile(file, line, { mode: 0o600 }).catch(() => {});
    const size = await stat(file).then(
      (found) => found.size,
      () => 0,
    );
    if (size > MAX_BYTES) await this.#halve(file).catch(() => {});
  }

  async read(file: string, since = ''): Promise<string[]> {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    return text.split('\n').filter((line) => line !== '' && line.slice(0, line.indexOf(' ')) > since);
  }

  async #halve(file: string): Promise<void> {
    const lines = await this.read(file);
    await writeFile(`${file}.new`, `${lines.slice(lines.length >> 1).join('\n')}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
}
