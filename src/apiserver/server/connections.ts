/**
 * The connections of the server, HTTP/1.1 and HTTP/2. It makes Node's HTTP/1.1 reliable over TLS and answers what
 * cannot be parsed.
 */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/** How long a client that is told that its request cannot be read may take to hear it. */
const LAST_WORDS_MS = 1000;
/** What Node says about a request it cannot read; 400 for everything else. */
const REFUSALS: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** An answer under way, and its request. */
export type Answering = Pick<ServerResponse, 'headersSent' | 'req' | 'once'>;

/** What the requests of one connection share: the socket of HTTP/1.1, the session of HTTP/2. */
export type Peer = TLSSocket | ServerHttp2Session;

interface Connection {
  readonly answers: Set<Answering>;
  isRefused: boolean;
}

export class Connections {
  readonly #all = new Map<Peer, Connection>();

  constructor(server: Http2SecureServer) {
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
    const answers = peer && this.#all.get(peer)?.answers;
    if (!answers) return;
    answers.add(answer);
    answer.once('close', () => answers.delete(answer));
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
    this.#all.set(peer, { answers: new Set(), isRefused: false });
    (peer as TLSSocket).once('close', () => this.#all.delete(peer));
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
