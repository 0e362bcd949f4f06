/**
 * The connections of the server, HTTP/1.1 and HTTP/2. It makes Node's HTTP/1.1 reliable over TLS, answers what cannot be
 * parsed, and ends what holds memory or a place for too long: requests that are never complete, answers that are never
 * read, connections that no client uses.
 */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { type Clock, every } from '../../clock.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import { Strangers } from './strangers.ts';

/** How long a client that is told that its request cannot be read may take to hear it. */
const LAST_WORDS_MS = 1000;
/** What Node says about a request it cannot read; 400 for everything else. */
const REFUSALS: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** An answer under way, and its request. */
export type Answering = Pick<
  ServerResponse,
  'headersSent' | 'req' | 'once' | 'writableEnded' | 'writableLength' | 'writableHighWaterMark' | 'destroy'
>;

/** What the requests of one connection share: the socket of HTTP/1.1, the session of HTTP/2. */
export type Peer = TLSSocket | ServerHttp2Session;

interface Connection {
  readonly answers: Set<Answering>;
  isRefused: boolean;
  /** The client has authenticated. */
  isKnown: boolean;
  /** Since when it was seen without a request. */
  idleSince?: number;
}

/** Looks often enough to end things about when they should. */
const LOOKS = 8;

export class Connections {
  readonly #all = new Map<Peer, Connection>();
  readonly #limits: ConnectionLimits;
  readonly #clock: Clock;
  readonly #strangers: Strangers;
  /** Answers that could not be sent when they were looked at, and since when. */
  readonly #stalled = new Map<Answering, number>();
  readonly #stopLooking: () => void;

  constructor(server: Http2SecureServer, limits: ConnectionLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#strangers = new Strangers(server, limits.strangers);
    const { headersMs, requestMs, idleMs, stalledMs } = limits;
    // Node sees to these itself, for HTTP/1.1.
    Object.assign(server, {
      keepAliveTimeout: idleMs,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.ceil(headersMs / LOOKS),
    });
    this.#stopLooking = every(clock, Math.min(idleMs, stalledMs) / LOOKS, () => this.#look());
    server.on('secureConnection', (socket) => {
      if (socket.alpnProtocol === 'h2') return;
      this.#add(socket);
      readAsStream(socket);
    });
    server.on('session', (session) => this.#add(session));
    server.on('clientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => this.#refuse(error, socket));
    for (const event of ['sessionError', 'tlsClientError'] as const) {
      // A broken connection is the client's business; an unhandled one would be ours.
      server.on(event, (_error: Error, socket?: { destroy?(): void }) => socket?.destroy?.());
    }
  }

  /** An answer on a connection, until it is closed. */
  answer(peer: Peer | undefined, answer: Answering): void {
    const connection = peer && this.#all.get(peer);
    if (!connection) return;
    connection.answers.add(answer);
    connection.idleSince = undefined;
    answer.once('close', () => {
      connection.answers.delete(answer);
      this.#stalled.delete(answer);
    });
  }

  /** A client has authenticated on it. */
  recognise(peer: Peer | undefined): void {
    const connection = peer && this.#all.get(peer);
    if (!connection || connection.isKnown) return;
    connection.isKnown = true;
    const socket = 'socket' in peer ? peer.socket : peer;
    if (socket) this.#strangers.forget(socket);
  }

  close(): void {
    this.#stopLooking();
    this.destroy();
  }

  /** All, or those that are meant. Says how many there were. */
  destroy(isMeant: (socket: TLSSocket) => boolean = () => true): number {
    const meant = [...this.#all.keys()].filter((peer) => {
      const socket = 'socket' in peer ? peer.socket : peer;
      return socket !== undefined && isMeant(socket as TLSSocket);
    });
    for (const peer of meant) peer.destroy();
    return meant.length;
  }

  #add(peer: Peer): void {
    this.#all.set(peer, { answers: new Set(), isRefused: false, isKnown: false });
    (peer as TLSSocket).once('close', () => this.#all.delete(peer));
  }

  #look(): void {
    const now = this.#clock.now();
    for (const [peer, connection] of this.#all) {
      for (const answer of connection.answers) this.#lookAt(answer, now);
      // Connections of HTTP/1.1 are ended by Node.
      if ('socket' in peer && connection.answers.size === 0) this.#endIdle(peer, connection, now);
    }
  }

  #lookAt(answer: Answering, now: number): void {
    if (!isWaiting(answer)) {
      this.#stalled.delete(answer);
      return;
    }
    const since = this.#stalled.get(answer);
    if (since === undefined) {
      this.#stalled.set(answer, now);
      // The client reads, if slowly.
      answer.once('drain', () => this.#stalled.delete(answer));
    } else if (now - since >= this.#limits.stalledMs) answer.destroy();
  }

  /** Politely first: the client may have a request on its way, and asks again elsewhere. */
  #endIdle(session: ServerHttp2Session, connection: Connection, now: number): void {
    connection.idleSince ??= now;
    const idle = now - connection.idleSince;
    if (idle >= 2 * this.#limits.idleMs) session.destroy();
    else if (idle >= this.#limits.idleMs && !session.closed) session.close();
  }

  /** Says why a request of HTTP/1.1 cannot be read, unless the client would take it for another answer. */
  #refuse({ code = '' }: NodeJS.ErrnoException, socket: TLSSocket): void {
    const connection = this.#all.get(socket);
    // What comes after the request that was refused cannot be read either.
    if (connection?.isRefused) return;
    // The body of the only request under way may be what is wrong.
    const isAnother = ({ headersSent, req }: Answering) => headersSent || req.complete;
    if (!connection || [...connection.answers].some(isAnother) || !socket.writable) {
      socket.destroy();
      return;
    }
    connection.isRefused = true;
    const status = REFUSALS[code] ?? 400;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    // Closing at once, with bytes of the client still unread, would reset the connection and take the answer with it.
    const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
    socket.once('close', () => clearTimeout(timer));
  }
}

/**
 * Lets a socket of HTTP/1.1 be read as a stream. Node's HTTP parser otherwise takes its bytes from the TLS layer
 * directly, and that layer hands over what it has decrypted even after it was told to stop. The parser is told to stop
 * when a request comes while an answer above the high water mark (16 kB) is still on its way out: it then fails on the
 * body of that request with HPE_PAUSED. A stream keeps what comes in the meantime.
 */
function readAsStream(socket: TLSSocket): void {
  socket.on('data', () => {});
}

/** There is more to send than Node likes to keep; or all was said, and the client neither takes it nor ends its request. */
function isWaiting({ writableEnded, writableLength, writableHighWaterMark }: Answering): boolean {
  return writableEnded || writableLength >= writableHighWaterMark;
}
