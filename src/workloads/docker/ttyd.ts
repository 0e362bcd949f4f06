/** A shell behind ttyd, over the socket it listens on: its protocol is one character for the kind of message, then the message. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { WebSocket } from 'ws';
import { RookeryError } from '../../errors.ts';
import type { Terminal, TerminalSize } from '../workload.ts';

const INPUT = '0';
const RESIZE = '1';
const PAUSE = '2';
const RESUME = '3';
const OUTPUT = '0';
const OPEN_MS = 10_000;
/** Linux: a file as a place, without opening what is there. */
const O_PATH = 0o10000000;

/** The folder of the socket is the student's: a link there, to somebody else's socket, must not be followed, nor one that appears between looking and connecting. */
export async function ttydTerminal(socketPath: string, size: TerminalSize): Promise<Terminal> {
  const place = await open(socketPath, O_PATH | constants.O_NOFOLLOW).catch((error) => {
    throw unanswered(`its socket cannot be opened (${error.code})`);
  });
  try {
    if (!(await place.stat()).isSocket()) throw unanswered('there is something else in the place of its socket');
    return await connectTo(place, size);
  } finally {
    await place.close();
  }
}

function connectTo(place: FileHandle, { columns, rows }: TerminalSize): Promise<Terminal> {
  return new Promise((resolve, reject) => {
    const address = `ws+unix:/proc/self/fd/${place.fd}:/ws`;
    const socket = new WebSocket(address, ['tty'], { handshakeTimeout: OPEN_MS });
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
    // Also later: a connection that breaks ends the terminal, not the process.
    socket.on('error', (error) => reject(unanswered(error.message)));
    const send = (text: string) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(Buffer.from(text));
    };
    socket.once('open', () => {
      socket.send(Buffer.from(JSON.stringify({ AuthToken: '', columns, rows })));
      resolve({
        write: (data) => send(INPUT + data),
        resize: (wide, high) => send(RESIZE + JSON.stringify({ columns: wide, rows: high })),
        pause: () => send(PAUSE),
        resume: () => send(RESUME),
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

function unanswered(why: string): RookeryError {
  return new RookeryError('workspace.ttyd', `ttyd does not answer: ${why}`, { class: 'retryable' });
}
