/** The terminal. It comes back by itself after a break, with the screen as it was. */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import type { View } from './view.ts';

/** The server's words for why it closed the connection. */
const ENDED = 4000;
const CONTROL = '\0';
const RETRY_MS = 1000;

export class Screen {
  readonly #terminal = new Terminal({
    cursorBlink: true,
    fontSize: 14,
    scrollback: 5000,
    theme: { background: '#0e1116' },
  });
  readonly #fit = new FitAddon();
  readonly #notice: HTMLElement;
  #socket: WebSocket | undefined;
  #step: string | undefined;
  #isRunning = false;
  #hasEnded = false;

  /** `wake`: somebody pressed a key while nothing runs. */
  constructor(place: HTMLElement, notice: HTMLElement, wake: () => void) {
    this.#notice = notice;
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.open(place);
    this.#fit.fit();
    new ResizeObserver(() => this.#fit.fit()).observe(place);
    this.#terminal.onData((data) => {
      if (!this.#isRunning) return wake();
      if (this.#hasEnded) return this.#again();
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(data);
    });
    this.#terminal.onResize(({ cols, rows }) => this.#control({ resize: { columns: cols, rows } }));
  }

  say(text: string): void {
    this.#notice.textContent = text;
    this.#notice.hidden = text === '';
  }

  /** Puts text on the command line without running it: pasted, several lines are not run either. */
  type(text: string): void {
    this.#terminal.paste(text.trimEnd());
    this.#terminal.focus();
  }

  follow({ phase, waitsFor, currentStep, role }: View): void {
    this.#terminal.options.disableStdin = role !== 'student';
    const wasRunning = this.#isRunning;
    this.#isRunning = phase === 'Running';
    if (!this.#isRunning) return this.say([`${phase} …`, waitsFor].filter(Boolean).join('\n'));
    // Another step has a shell of its own.
    if (this.#step !== undefined && this.#step !== currentStep) this.#hasEnded = false;
    this.#step = currentStep;
    if (!wasRunning) this.say('');
    if (!this.#socket && !this.#hasEnded) this.#connect();
  }

  #connect(): void {
    const { cols, rows } = this.#terminal;
    const url = new URL(`terminal?columns=${cols}&rows=${rows}`, location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    this.#socket = socket;
    socket.onopen = () => this.say('');
    socket.onmessage = ({ data }) => this.#terminal.write(String(data));
    socket.onclose = ({ code, reason }) => {
      this.#socket = undefined;
      this.#hasEnded = code === ENDED && this.#isRunning;
      if (this.#hasEnded) return this.say(`${reason}. Press a key for a new one.`);
      this.say(reason || 'the connection is lost; trying again');
      setTimeout(() => {
        if (this.#isRunning && !this.#socket) this.#connect();
      }, RETRY_MS);
    };
  }

  #again(): void {
    this.#hasEnded = false;
    if (!this.#socket) this.#connect();
  }

  #control(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(CONTROL + JSON.stringify(message));
  }
}
