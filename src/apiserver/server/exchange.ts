/** One HTTP request and its answer, HTTP/1.1 or HTTP/2 alike. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { Random } from '../../clock.ts';
import { BODY_LIMIT } from '../codec/body.ts';
import type { Seat } from '../fairness/seat.ts';
import { extraFor } from '../fairness/width.ts';
import { badRequest, tooLarge } from '../status.ts';
import { COUNTED_FROM } from './body-budget.ts';
import { warningHeaders } from './warning-headers.ts';

const compress = promisify(gzip);
/** Smaller bodies are not worth compressing; the real server draws the same line. */
const GZIP_FROM = 128 * 1024;
/** What is encoded and encrypted in one go; more would hold the event loop. */
const PIECE = 1024 * 1024;

export class Exchange {
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse;
  readonly method: string;
  readonly query: URLSearchParams;
  readonly warnings: string[] = [];
  /** Names the request in logs, here and there: the client's word for it, if it has one. */
  readonly auditId: string;
  readonly #headers: Record<string, string> = {};
  /** Path below the cluster's prefix. */
  path: string;
  /** What it may run on; absent while it waits. */
  seat: Seat | undefined;
  /** Bytes of the answer so far. */
  #sent = 0;

  constructor(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
    random: Random,
  ) {
    this.request = request;
    this.auditId = this.header('audit-id') || random.uuid();
    // Both kinds answer to the same methods here; the compat layer of http2 is made for that.
    this.response = response as ServerResponse;
    this.method = request.method ?? 'GET';
    const [path, query] = splitTarget(request.url ?? '/');
    this.path = path;
    this.query = new URLSearchParams(query);
  }

  /** Others may run; from now on it costs little. */
  releaseSeat(): void {
    this.seat?.release(extraFor(this.seat.holder.width, this.#sent));
  }

  /** A header of the answer, whatever it will be. */
  addHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  }

  /**
   * Read by hand: leaving a `for await` early would destroy the connection before the 413 is through. `count` is told of
   * the bytes of a large body as they come; what it throws refuses the rest.
   */
  body(count: (bytes: number) => void = () => {}): Promise<Buffer> {
    const { request, response } = this;
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const settle = (act: () => void) => {
        request.off('data', take).off('end', end).off('close', cut).off('error', cut);
        response.off('close', cut);
        act();
      };
      let counted = 0;
      const take = (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > BODY_LIMIT) return settle(() => this.#refuse(reject, tooLarge(`limit is ${BODY_LIMIT}`)));
        if (size - counted <= COUNTED_FROM) return;
        try {
          count(size - counted);
          counted = size;
        } catch (error) {
          settle(() => this.#refuse(reject, error as Error));
        }
      };
      const end = () => settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
      const cut = () => settle(() => reject(badRequest('unexpected EOF')));
      request.on('data', take).on('end', end).on('close', cut).on('error', cut);
      // Answered already (it took too long): of HTTP/1.1, the request does not hear when its connection ends.
      response.on('close', cut);
      // It may have waited for its turn, and its client may have left meanwhile: of HTTP/2, nothing more is heard then.
      if (request.destroyed || response.closed || this.isGone) cut();
    });
  }

  /** The rest of the body is thrown away as it comes, and the connection with it: nobody waits for an endless one. */
  #refuse(reject: (error: Error) => void, error: Error): void {
    this.request.on('error', () => {});
    this.request.resume();
    this.closeAfterAnswer();
    reject(error);
  }

  /** What is left of a request of HTTP/1.1 is not waited for. A stream of HTTP/2 has no connection of its own. */
  closeAfterAnswer(): void {
    const { request, response } = this;
    const isWhole = (request as IncomingMessage).complete;
    if (request.httpVersionMajor === 1 && !isWhole && !response.headersSent) response.setHeader('connection', 'close');
  }

  /** Starts an answer that is written piece by piece. */
  open(status: number, headers: Record<string, string>): void {
    if (this.response.headersSent) return;
    if (this.warnings.length > 0) this.response.setHeader('warning', warningHeaders(this.warnings));
    const own = { 'audit-id': this.auditId, 'cache-control': 'no-cache, private' };
    this.response.writeHead(status, { ...own, ...this.#headers, ...headers });
  }

  /** Nobody reads any more. The answers of HTTP/2 do not say it themselves. */
  get isGone(): boolean {
    const { destroyed, stream } = this.response as ServerResponse & Partial<Pick<Http2ServerResponse, 'stream'>>;
    return destroyed || stream?.destroyed === true;
  }

  get wantsGzip(): boolean {
    return /\bgzip\b/.test(this.header('accept-encoding') ?? '');
  }

  async send(
    status: number,
    contentType: string,
    body: string | Buffer,
    headers: Record<string, string> = {},
  ): Promise<void> {
    if (this.response.headersSent || this.isGone) return;
    // Text stays text: Node then sends it in one piece with the headers, which is much cheaper for a small answer.
    // Only beside bytes are headers sent as they are: text would have them in its own encoding.
    let content = this.warnings.length > 0 ? Buffer.from(body as string) : body;
    const all: Record<string, string> = { 'content-type': contentType, ...headers };
    if (Buffer.byteLength(content) > GZIP_FROM && this.wantsGzip) {
      content = await compress(content, { level: 1 });
      all['content-encoding'] = 'gzip';
      all.vary = 'Accept-Encoding';
    }
    this.#sent = Buffer.byteLength(content);
    all['content-length'] = String(this.#sent);
    this.open(status, all);
    if (this.method === 'HEAD') this.response.end();
    else if (content.length <= PIECE) this.response.end(content);
    else await this.#sendInPieces(content);
  }

  async #sendInPieces(content: string | Buffer): Promise<void> {
    const out = writer(this.response, this.seat);
    for (let at = 0; at < content.length && !this.isGone; ) {
      const end = pieceEnd(content, at);
      await out.write(typeof content === 'string' ? content.slice(at, end) : content.subarray(at, end));
      await nextTurn();
      at = end;
    }
    out.end();
  }

  /** An answer of unknown size, compressed where the client wants it; `write` waits while the client is slow. */
  stream(status: number, contentType: string): Writer {
    if (this.isGone) return NOWHERE;
    const headers: Record<string, string> = { 'content-type': contentType };
    if (!this.wantsGzip) {
      this.open(status, headers);
      return this.#counting(writer(this.response, this.seat));
    }
    this.open(status, { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const zip = createGzip({ level: 1 });
    zip.pipe(this.response);
    // Nothing else would tell it that nobody reads any more, and it would never drain.
    this.response.once('close', () => zip.destroy());
    return this.#counting(writer(zip, this.seat));
  }

  #counting({ write, end }: Writer): Writer {
    return {
      write: (part) => {
        this.#sent += part.length;
        return write(part);
      },
      end,
    };
  }
}

interface Writer {
  write(part: string | Buffer): Promise<void>;
  end(): void;
}

/** For a client that left before its answer began: what is closed already never says so again, and never drains. */
const NOWHERE: Writer = { write: () => Promise.resolve(), end: () => {} };

/** Two halves of one character stay together. */
function pieceEnd(content: string | Buffer, at: number): number {
  const end = Math.min(at + PIECE, content.length);
  if (typeof content !== 'string' || end === content.length) return end;
  const last = content.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end + 1 : end;
}

interface Sink {
  write(part: string | Buffer): boolean;
  end(): unknown;
  once(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/** While the client is slow, its seat is for others. */
function writer(sink: Sink, seat: Seat | undefined): Writer {
  let isClosed = false;
  sink.once('close', () => {
    isClosed = true;
  });
  return {
    write(part) {
      // To what is closed already, nothing happens any more that could be waited for.
      if (isClosed || sink.write(part)) return Promise.resolve();
      seat?.pause();
      return new Promise((resolve) => {
        const go = () => {
          seat?.resume();
          sink.off('drain', go);
          sink.off('close', go);
          resolve();
        };
        sink.once('drain', go);
        sink.once('close', go);
      });
    },
    end: () => void sink.end(),
  };
}

/** The path as it was sent: what a URL parser makes of `..` and `//` must not name another object. */
function splitTarget(target: string): [path: string, query: string] {
  const [whole = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split('#', 1);
  const at = whole.indexOf('?');
  const path = at < 0 ? whole : whole.slice(0, at);
  return [path.startsWith('/') ? path : `/${path}`, at < 0 ? '' : whole.slice(at + 1)];
}
