/**
 * The HTTPS front: HTTP/2 and HTTP/1.1 on one port, client certificates asked for but not demanded, every failure a
 * `Status`. It finds the cluster, the caller and the route, and leaves the rest to the requests beside it.
 */
import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Clock, type Random, systemClock, systemRandom } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { bearerToken, type RequestFacts } from '../auth/authenticator.ts';
import { ANONYMOUS } from '../auth/identity.ts';
import { type Impersonation, readImpersonation } from '../auth/impersonation.ts';
import type { Cluster } from '../cluster.ts';
import { type Clusters, ROOT } from '../clusters.ts';
import { noRoom } from '../disk/disk.ts';
import { Fairness } from '../fairness/fairness.ts';
import { CLIENT_GONE, RequestScope } from '../request-scope.ts';
import { ApiError, internalError } from '../status.ts';
import { isBroken, isStoreTrouble } from '../store-health.ts';
import { sendValue, statusForm } from './answer.ts';
import { Callers } from './callers.ts';
import { CONNECTION_LIMITS, type ConnectionLimits } from './connection-limits.ts';
import { Connections, type Peer } from './connections.ts';
import { Exchange } from './exchange.ts';
import { PageNotFound } from './not-found.ts';
import { type OwnPaths, type Pages, servePath } from './path-requests.ts';
import { deadlineOf, tookTooLong } from './request-deadline.ts';
import { serveResource } from './resource-requests.ts';
import { clusterNamed, parseRoute, splitCluster } from './route.ts';

export interface ServerOptions {
  clusters: Clusters;
  /** PEM of the serving certificate and its key. */
  tls: { cert: string; key: string };
  host?: string;
  /** 0: any free port. */
  port?: number;
  /** False: only tenants are served, and there is nothing at `/`. Default true. */
  hasRoot?: boolean;
  /** Limits how long requests wait for their turn. */
  clock?: Clock;
  /** Of connections, where they are not the usual ones. */
  limits?: Partial<ConnectionLimits>;
  /** Names requests. */
  random?: Random;
  /** Text for `/metrics`. */
  metrics?: () => string;
  /** Beside Kubernetes' own, at the root only: by the first part of the path. */
  ownPaths?: OwnPaths;
  /** Told of failures that are ours, not the client's. */
  onError?: (error: unknown, request: { method: string; path: string; auditId: string }) => void;
}

/** The signal of requests that end by themselves. */
const NEVER = new AbortController().signal;

export class ApiServer {
  readonly #options: ServerOptions;
  readonly #server: Http2SecureServer;
  readonly #random: Random;
  readonly #fairness: Fairness;
  readonly #callers: Callers;
  #stopping = false;
  readonly #connections: Connections;
  readonly #streams = new Map<string, Set<AbortController>>();
  readonly #certificates = new WeakMap<Socket, X509Certificate | null>();

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#random = options.random ?? systemRandom;
    const clock = options.clock ?? systemClock;
    this.#fairness = new Fairness(clock);
    this.#callers = new Callers(options.clusters, clock, options.hasRoot !== false);
    const limits = { ...CONNECTION_LIMITS, ...options.limits };
    this.#server = createSecureServer(
      {
        ...options.tls,
        allowHTTP1: true,
        requestCert: true,
        rejectUnauthorized: false,
        settings: { maxConcurrentStreams: 1000 },
        // Many informers share one connection; the default of 10 MB refuses their streams.
        maxSessionMemory: 100,
        handshakeTimeout: limits.headersMs,
      },
      (request, response) => void this.#serve(request, response),
    );
    this.#connections = new Connections(this.#server, limits, clock);
    options.clusters.onGone((name) => {
      for (const controller of this.#streams.get(name) ?? []) controller.abort();
      this.#fairness.forget(name);
    });
  }

  listen(): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.port ?? 0, this.#options.host ?? '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve(this.#server.address() as AddressInfo);
      });
    });
  }

  /** Connections that come from now on see this certificate; those there are go on. */
  useTls(tls: ServerOptions['tls']): void {
    this.#server.setSecureContext(tls);
  }

  /** Ends every connection that shows this client certificate, with all that runs over it. Says how many there were. */
  endConnectionsOf(serial: string): number {
    return this.#connections.destroy((socket) => certificateOf(socket)?.serialNumber === serial);
  }

  /** Ends watches cleanly, lets running requests finish for a moment, closes the port. Clusters stay open. */
  async close(): Promise<void> {
    this.#stopping = true;
    for (const streams of this.#streams.values()) for (const controller of streams) controller.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const grace = setTimeout(() => this.#connections.destroy(), 300);
    await closed;
    clearTimeout(grace);
    this.#connections.close();
  }

  async #serve(
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ): Promise<void> {
    let exchange: Exchange | undefined;
    let cluster: Cluster | undefined;
    let inTime = () => {};
    let scope: RequestScope | undefined;
    try {
      exchange = new Exchange(request, response, this.#random);
      exchange.response.on('error', () => {});
      this.#connections.answer(peerOf(request), exchange.response);
      const split = splitCluster(exchange.path);
      exchange.path = split.path;
      if (split.cluster === ROOT) split.cluster = this.#meantBy(exchange, socketOf(request));
      const route = parseRoute(exchange.method, exchange.path, exchange.query);
      const deadline = deadlineOf(exchange, route);
      const caller = await this.#callers.find(split.cluster, this.#factsOf(request, exchange));
      cluster = caller.cluster;
      cluster.active++;
      const { identity } = caller;
      if (identity !== ANONYMOUS) this.#connections.recognise(peerOf(request));
      const current = new RequestScope(cluster.name);
      scope = current;
      exchange.response.once('close', () => current.end(CLIENT_GONE));
      inTime = this.#limit(cluster, exchange, deadline, scope);
      scope.user = identity.user;
      this.#noteCall(cluster, exchange, identity.user);
      const entered = this.#fairness.enter(cluster, exchange, identity, route);
      exchange.seat = entered instanceof Promise ? await entered : entered;
      if (route.kind === 'path') {
        const own = split.cluster === ROOT ? this.#options.ownPaths : undefined;
        await servePath({ cluster, exchange, identity, pages: this.#pages(cluster), own });
      } else if (route.verb === 'watch') {
        await this.#stream(cluster.name, (signal) =>
          serveResource(cluster as Cluster, exchange as Exchange, route, identity, signal, current),
        );
      } else await serveResource(cluster, exchange, route, identity, NEVER, current);
    } catch (error) {
      if (cluster && isBroken(error)) this.#options.clusters.broke(cluster.name, error);
      // Of a request that has ended, the work was stopped: its client has an answer, or is gone.
      if (scope?.hasEnded && error instanceof ApiError) return;
      await this.#fail(exchange, response, exchange?.seat ? error : await this.#inTurn(exchange, error));
    } finally {
      inTime();
      exchange?.releaseSeat();
      if (cluster) {
        cluster.active--;
        cluster.lastUsed = cluster.clock.now();
      }
    }
  }

  /** Requests that fail before they have a seat cost something, too. What they are answered, when it is their turn. */
  async #inTurn(exchange: Exchange | undefined, error: unknown): Promise<unknown> {
    if (!exchange || (error instanceof ApiError && error.code === 429)) return error;
    try {
      exchange.seat = await this.#fairness.enterAsStranger(exchange);
      return error;
    } catch (refusal) {
      return refusal;
    }
  }

  #factsOf(request: IncomingMessage | Http2ServerRequest, exchange: Exchange): RequestFacts {
    return {
      authorization: exchange.header('authorization'),
      peerCertificate: () => this.#peerCertificate(request),
      get impersonation() {
        return impersonationOf(request);
      },
    };
  }

  /** Answers for a request that takes too long; the function returned says that it did not. */
  #limit(cluster: Cluster, exchange: Exchange, deadline: number | undefined, scope: RequestScope): () => void {
    if (deadline === undefined) return () => {};
    return cluster.clock.after(deadline, () => {
      exchange.closeAfterAnswer();
      scope.end(tookTooLong());
      void this.#fail(exchange, exchange.response, tookTooLong());
    });
  }

  /** Neither Rookery's own programs and strangers that probe it, nor watches, which come back by themselves when nobody is there. */
  #noteCall({ name, clock }: Cluster, exchange: Exchange, user: string): void {
    if (user === ANONYMOUS.user || exchange.header('user-agent') === 'rookery' || exchange.query.has('watch')) return;
    this.#options.clusters.lastCalls.note(name, user, clock.now());
  }

  /** A path that names no cluster: the server name may, or the credential. */
  #meantBy(exchange: Exchange, socket: TLSSocket | undefined): string {
    const token = bearerToken(exchange.header('authorization'));
    return clusterNamed(socket?.servername) || ((token && this.#options.clusters.ofToken(token)) ?? ROOT);
  }

  #pages(cluster: Cluster): Pages {
    return {
      // They are about the whole process: no tenant's business.
      metrics: () => (cluster.name === ROOT ? (this.#options.metrics?.() ?? '') + this.#fairness.metrics() : ''),
      priorityLevels: () => this.#fairness.dump(cluster),
    };
  }

  /** Runs something that lasts until the client, the cluster or the server goes. */
  async #stream(cluster: string, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    let streams = this.#streams.get(cluster);
    if (!streams) {
      streams = new Set();
      this.#streams.set(cluster, streams);
    }
    streams.add(controller);
    if (this.#stopping) controller.abort();
    try {
      await run(controller.signal);
    } finally {
      streams.delete(controller);
      if (streams.size === 0 && this.#streams.get(cluster) === streams) this.#streams.delete(cluster);
    }
  }

  async #fail(
    exchange: Exchange | undefined,
    response: ServerResponse | Http2ServerResponse,
    error: unknown,
  ): Promise<void> {
    const failure = failureOf(error);
    if (!(error instanceof ApiError || error instanceof PageNotFound)) {
      this.#options.onError?.(error, nameOf(exchange));
    }
    if (!exchange) {
      (response as ServerResponse).writeHead(400).end();
      return;
    }
    if (exchange.response.headersSent) {
      exchange.response.destroy();
      return;
    }
    if (error instanceof PageNotFound) return exchange.send(404, 'text/plain; charset=utf-8', '404 page not found\n');
    const headers: Record<string, string> = {};
    if (failure.details?.retryAfterSeconds) headers['retry-after'] = String(failure.details.retryAfterSeconds);
    if (failure.code === 401) headers['www-authenticate'] = 'Bearer realm="kubernetes"';
    try {
      await sendValue(exchange, failure.code, failure.toStatus(), statusForm(exchange), headers);
    } catch (sendError) {
      this.#options.onError?.(sendError, nameOf(exchange));
      exchange.response.destroy();
    }
  }

  #peerCertificate(request: IncomingMessage | Http2ServerRequest): X509Certificate | undefined {
    const socket = socketOf(request);
    if (!socket) return undefined;
    let certificate = this.#certificates.get(socket);
    if (certificate === undefined) {
      certificate = certificateOf(socket) ?? null;
      this.#certificates.set(socket, certificate);
    }
    return certificate ?? undefined;
  }
}

function peerOf(request: IncomingMessage | Http2ServerRequest): Peer | undefined {
  return ('stream' in request ? request.stream.session : request.socket) as Peer | undefined;
}

function certificateOf(socket: TLSSocket): X509Certificate | undefined {
  return socket.getPeerX509Certificate?.();
}

function socketOf(request: IncomingMessage | Http2ServerRequest): TLSSocket | undefined {
  return ('stream' in request ? request.stream.session?.socket : request.socket) as TLSSocket | undefined;
}

/** A request as our log names it; the audit id is in its answer, too. */
function nameOf(exchange: Exchange | undefined): { method: string; path: string; auditId: string } {
  const { method = '', path = '', auditId = '' } = exchange ?? {};
  return { method, path, auditId };
}

function failureOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // Files are named to the people of the machine only.
  if (isStoreTrouble(error)) {
    return new ApiError(503, 'ServiceUnavailable', error.message.replaceAll(/\S+\.db\b(-wal)?/g, 'its file'));
  }
  if (isBroken(error)) return new ApiError(503, 'ServiceUnavailable', 'the store of this cluster is damaged');
  // What it was may name files of ours, or what is in them.
  if (!(error instanceof RookeryError && error.retry)) return internalError('the log of the server says what it was');
  // The reserve has been given up just now: a delete that is tried again gets through.
  return error.code === 'store.full' ? noRoom('full', 1) : busy();
}

/** The store is closed or taken: it passes, and its details (paths) are for our log. */
function busy(): ApiError {
  return new ApiError(503, 'ServiceUnavailable', 'the cluster cannot do this right now, try again in a moment', {
    retryAfterSeconds: 1,
  });
}

function impersonationOf(request: IncomingMessage | Http2ServerRequest): Impersonation | undefined {
  const { headers } = request;
  for (const name in headers) if (name.startsWith('impersonate-')) return readImpersonation(distinct(request));
  return undefined;
}

/** Repeated headers one by one: a group name may contain a comma. */
function distinct(request: IncomingMessage | Http2ServerRequest): Record<string, string[]> {
  const all: Record<string, string[]> = Object.create(null);
  const raw = request.rawHeaders;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    all[name] = [...(all[name] ?? []), raw[i + 1] as string];
  }
  return all;
}
