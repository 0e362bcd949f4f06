/** A shell behind ttyd, over the socket it listens on: its protocol is one character for the kind of message, then the message. */
import { WebSocket } from 'ws';
import { RookeryError } from '../../errors.ts';
import type { Terminal, TerminalSize } from '../workload.ts';

const INPUT = '0';
const RESIZE = '1';
const OUTPUT = '0';
const OPEN_MS = 10_000;

export function ttydTerminal(socketPath: string, { columns, rows }: TerminalSize): Promise<Terminal> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws+unix:${socketPath}:/ws`, ['tty'], { handshakeTimeout: OPEN_MS });
    const listeners: ((data: string) => void)[] = [];
    // What comes before anybody listens is not lost.
    const early: string[] = [];
    const decoder = new TextDecoder();
    socket.on('message', (message: Buffer) => {
      if (String.fromCharCode(message[0] as number) !== OUTPUT) return; // The title and preferences of its own page.
      const text = decoder.decode(message.subarray(1), { stream: true });
      if (listeners.length === 0) early.push(text);
      for (const listener of listeners) listener(text);
    });
    socket.once('error', (error) => {
      reject(new RookeryError('workspace.ttyd', `ttyd does not answer: ${error.message}`, { class: 'retryable' }));
    });
    const send = (text: string) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(Buffer.from(text));
    };
    socket.once('open', () => {
      socket.send(Buffer.from(JSON.stringify({ AuthToken: '', columns, rows })));
      resolve({
        write: (data) => send(INPUT + data),
        resize: (wide, high) => send(RESIZE + JSON.stringify({ columns: wide, rows: high })),
        onData(listener) {
          listeners.push(listener);
          for (const text of early.splice(0)) listener(text);
        },
        // ttyd closes with 1000 when the shell has ended; it does not say how.
        onExit: (listener) => void socket.once('close', () => listener(0)),
        close: () => socket.terminate(),
      });
    });
  });
}
