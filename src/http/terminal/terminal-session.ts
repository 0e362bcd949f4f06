/**
 * One shell and everybody who looks at it. The shell goes on when a browser goes away; who comes back, or comes to watch, first sees what
 * was on the screen. The newest size of somebody who may type counts.
 */
import type { Clock } from '../../clock.ts';
import type { Terminal } from '../../workloads/workload.ts';

export interface Viewer {
  send(data: string): void;
  ended(code: number): void;
}

/** Enough for several full screens, whatever colours they have. */
const SCREEN_CHARACTERS = 256 * 1024;
/** A shell that has printed so much rests a moment: nobody reads more, and this process serves others as well. */
const BURST_CHARACTERS = 512 * 1024;
const REST_MS = 50;
/** Clears what a browser still shows and puts the terminal into its first state. */
const RESET = '\x1bc';

export class TerminalSession {
  readonly #terminal: Terminal;
  readonly #viewers = new Set<Viewer>();
  readonly #onInput: () => void;
  readonly #clock: Clock;
  #screen = '';
  #printed = 0;
  #code: number | undefined;

  constructor(terminal: Terminal, onInput: () => void, clock: Clock) {
    this.#terminal = terminal;
    this.#onInput = onInput;
    this.#clock = clock;
    terminal.onData((data) => {
      this.#count(data.length);
      this.#screen += data;
      // Not with every piece: cutting copies all of it.
      if (this.#screen.length > 2 * SCREEN_CHARACTERS) this.#screen = this.#screen.slice(-SCREEN_CHARACTERS);
      for (const viewer of this.#viewers) viewer.send(data);
    });
    terminal.onExit((code) => {
      this.#code = code;
      for (const viewer of this.#viewers) viewer.ended(code);
    });
  }

  get isOver(): boolean {
    return this.#code !== undefined;
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  attach(viewer: Viewer): void {
    this.#viewers.add(viewer);
    viewer.send(RESET + this.#screen.slice(-SCREEN_CHARACTERS));
    if (this.#code !== undefined) viewer.ended(this.#code);
  }

  detach(viewer: Viewer): void {
    this.#viewers.delete(viewer);
  }

  write(data: string): void {
    if (this.isOver) return;
    this.#onInput();
    this.#terminal.write(data);
  }

  resize(columns: number, rows: number): void {
    if (!this.isOver) this.#terminal.resize(columns, rows);
  }

  close(): void {
    this.#terminal.close();
  }

  #count(characters: number): void {
    this.#printed += characters;
    if (this.#printed < BURST_CHARACTERS) return;
    this.#printed = 0;
    this.#terminal.pause();
    this.#clock.after(REST_MS, () => this.#terminal.resume());
  }
}
