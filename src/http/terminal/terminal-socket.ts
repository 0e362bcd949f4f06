/** A terminal over a WebSocket: text is what is typed and shown; JSON after a NUL byte is what is said beside it. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Clock, every } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { WorkspaceAccess } from '../workspace-access.ts';
import type { Pass } from '../workspace-links.ts';
import type { Viewer } from './terminal-session.ts';
import type { TerminalSessions } from './terminal-sessions.ts';

export interface TerminalRequest {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  pass: Pass;
  access: WorkspaceAccess;
  sessions: TerminalSessions;
  clock: Clock;
  log: Logger;
}

const CONTROL = '\0';
const MESSAGE_MAX = 1024 * 1024;
/** A viewer that does not read gets behind by so much, then it has to come again. */
const BACKLOG_MAX = 4 * 1024 * 1024;
/** A reason has at most 123 bytes; a character up to three. */
const REASON_MAX = 40;
/** Lets a browser tell a shell that ended from a connection that broke. */
const CODES = { ended: 4000, notRunning: 4001, slow: 4002, expired: 4003 };
/** How often a terminal that is open asks whether its link still counts. */
const LINK_CHECK_MS = 1000;

const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_MAX });

export function serveTerminal({ request, socket, head, ...parts }: TerminalRequest): void {
  sockets.handleUpgrade(request, socket, head, (connection) => {
    const size = sizeOf(new URL(request.url ?? '/', 'http://here').searchParams);
    attach(connection, size, parts).catch((error) => {
      if (!(error instanceof RookeryError)) parts.log.error('a terminal failed', { error: String(error) });
      const reason = error instanceof RookeryError ? error.message.slice(0, REASON_MAX) : 'failed';
      // Who does not read does not hear the answer to its goodbye, and both would wait half a minute for it.
      connection.resume();
      connection.close(CODES.notRunning, reason);
    });
  });
}

async function attach(
  connection: WebSocket,
  size: { columns: number; rows: number },
  { pass, access, sessions, clock, log }: Omit<TerminalRequest, 'request' | 'socket' | 'head'>,
): Promise<void> {
  // What is typed while the shell starts waits for it, where it was typed.
  connection.pause();
  connection.on('error', (error) => log.debug('a terminal connection broke', { error: String(error) }));
  const { workload, ref } = await access.shell(pass);
  const touch = () =>
    void access.touch(pass).catch((error) => log.warn('activity is not written', { error: String(error) }));
  const session = await sessions.open(workload, ref, size, touch);
  const viewer: Viewer = {
    send(data) {
      if (connection.bufferedAmount > BACKLOG_MAX) return connection.close(CODES.slow, 'too slow');
      connection.send(data);
    },
    ended: (code) => connection.close(CODES.ended, `the shell ended with ${code}`),
  };
  const canType = pass.role === 'student';
  const forget = clock.after(pass.expiresAt - clock.now(), () =>
    connection.close(CODES.expired, 'the link has expired'),
  );
  const stopChecking = every(clock, LINK_CHECK_MS, () => {
    access.checkLink(pass).catch((error) => {
      if (error instanceof RookeryError) connection.close(CODES.expired, error.message.slice(0, REASON_MAX));
      else log.warn('a link could not be checked', { error: String(error) });
    });
  });
  const leave = () => {
    forget();
    stopChecking();
    session.detach(viewer);
    void sessions.release(ref);
  };
  if (connection.readyState !== connection.OPEN) return leave();
  connection.on('close', leave);
  session.attach(viewer);
  if (canType) {
    session.resize(size.columns, size.rows);
    touch();
  }
  connection.on('message', (data) => {
    if (!canType) return;
    const message = data.toString();
    if (!message.startsWith(CONTROL)) return session.write(message);
    const { resize } = control(message);
    if (resize) session.resize(resize.columns, resize.rows);
  });
  connection.resume();
}

function control(message: string): { resize?: { columns: number; rows: number } } {
  try {
    const { resize } = JSON.parse(message.slice(CONTROL.length)) as { resize?: { columns: unknown; rows: unknown } };
    return resize ? { resize: { columns: bounded(resize.columns, 80), rows: bounded(resize.rows, 24) } } : {};
  } catch {
    return {};
  }
}

function sizeOf(parameters: URLSearchParams): { columns: number; rows: number } {
  return { columns: bounded(parameters.get('columns'), 80), rows: bounded(parameters.get('rows'), 24) };
}

function bounded(value: unknown, usual: number): number {
  const number = Math.floor(Number(value));
  return number >= 2 && number <= 1000 ? number : usual;
}
