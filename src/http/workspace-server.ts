/**
 * The web side of workspaces: a page with the steps and a terminal, behind signed links. A link is exchanged for a cookie of that workspace alone,
 * so it does not stay in the address bar; pages of other sites can neither read it nor use it.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { extname } from 'node:path';
import type { Clock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import type { Logger } from '../telemetry/log.ts';
import type { TerminalSessions } from './terminal/terminal-sessions.ts';
import { serveTerminal } from './terminal/terminal-socket.ts';
import type { TrustedProxies } from './trusted-proxies.ts';
import type { WorkspaceAccess, WorkspaceKey } from './workspace-access.ts';
import type { Pass, WorkspaceLinks } from './workspace-links.ts';

export interface WorkspaceServerOptions {
  links: WorkspaceLinks;
  access: WorkspaceAccess;
  sessions: TerminalSessions;
  /** Folder of the page's files. */
  assets: URL;
  host: string;
  port: number;
  proxies: TrustedProxies;
  /** The site of a proxy before us, without a trailing slash. */
  publicUrl?: string;
  clock: Clock;
  log: Logger;
}

const BODY_MAX = 64 * 1024;
/** To send a request; terminals are no requests any more. */
const TIMEOUTS = { headersTimeout: 30_000, requestTimeout: 60_000 };
/** A connection on which nothing is sent, either way, while an answer is not read to its end. */
const SILENT_MS = 120_000;
const KEEP_ALIVE_MS = 60_000;
const STATUS: Record<string, number> = {
  'workspace.missing': 404,
  'workspace.locked': 403,
  'workspace.revoked': 403,
  'http.too-large': 413,
};
const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export class WorkspaceServer {
  readonly #options: WorkspaceServerOptions;
  readonly #server: Server;

  private constructor(options: WorkspaceServerOptions) {
    this.#options = options;
    this.#server = createServer(TIMEOUTS, (request, response) => {
      this.#answer(request, response).catch((error) => this.#fail(response, error));
    });
    this.#server.setTimeout(SILENT_MS);
    this.#server.on('upgrade', (request, socket, head) => {
      // Nobody else listens from here on, and an error that nobody hears ends the whole process.
      socket.on('error', () => socket.destroy());
      const place = placeOf(request);
      const pass = place && this.#passOf(request, place);
      if (!pass || place.rest !== 'terminal' || !this.#isSameOrigin(request)) {
        socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
        return;
      }
      // Who was cut off without a word is noticed.
      (socket as Socket).setKeepAlive(true, KEEP_ALIVE_MS);
      const { access, sessions, clock, log } = options;
      serveTerminal({ request, socket, head, pass, access, sessions, clock, log });
    });
  }

  static async start(options: WorkspaceServerOptions): Promise<WorkspaceServer> {
    const server = new WorkspaceServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject).listen(options.port, options.host, resolve);
    });
    return server;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    const { host } = this.#options;
    const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
    return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
  }

  urlOf({ namespace, name }: WorkspaceKey): string {
    return `${this.#options.publicUrl ?? this.url}/w/${namespace}/${name}/`;
  }

  async close(): Promise<void> {
    this.#options.sessions.close();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = urlOf(request);
    if (!url) return send(response, 400, 'text/plain', 'this is no address of a page\n');
    if (url.pathname === '/healthz') return send(response, 200, 'text/plain', 'ok\n');
    if (url.pathname === '/open') return this.#open(url, request, response);
    const asset = /^\/assets\/([a-z0-9.-]+)$/.exec(url.pathname)?.[1];
    if (asset) return await this.#asset(response, asset);
    const place = placeOf(request);
    if (!place) return send(response, 404, 'text/plain', 'there is no such page\n');
    const pass = this.#passOf(request, place);
    if (!pass) {
      const text = 'this page needs its link: ask for one with `rookery workspace open`\n';
      return send(response, 403, 'text/plain', text);
    }
    await this.#workspace(request, response, pass, place.rest);
  }

  async #workspace(request: IncomingMessage, response: ServerResponse, pass: Pass, rest: string): Promise<void> {
    const { access } = this.#options;
    const method = `${request.method} ${rest}`;
    if (method === 'GET ') {
      // Coming here is use; a page that is left open is not.
      if (pass.role === 'student') await access.wake(pass);
      else await access.checkLink(pass);
      return await this.#asset(response, 'index.html');
    }
    if (method === 'GET state') return json(response, 200, { ...(await access.view(pass)), role: pass.role });
    if (method === 'GET logs') {
      const since = urlOf(request)?.searchParams.get('since') ?? undefined;
      if (since && Number.isNaN(Date.parse(since))) return json(response, 400, { message: 'since is not a time' });
      return json(response, 200, { lines: await access.logs(pass, since) });
    }
    if (!this.#isSameOrigin(request)) return json(response, 403, { message: 'requests of other sites are refused' });
    if (pass.role !== 'student') return json(response, 403, { message: 'this link is for looking only' });
    if (method === 'POST step') {
      const { step } = Object(await body(request)) as { step?: unknown };
      if (typeof step !== 'string') return json(response, 400, { message: 'say which step: {"step": "<id>"}' });
      await access.goTo(pass, step);
      return json(response, 202, {});
    }
    if (method === 'POST wake') {
      await access.wake(pass);
      return json(response, 202, {});
    }
    if (method === 'POST check') return json(response, 200, { checks: await access.check(pass) });
    return json(response, 404, { message: 'there is no such page' });
  }

  #open(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const token = url.searchParams.get('link') ?? '';
    const pass = this.#options.links.verify(token);
    if (!pass) {
      const text = 'this link is not valid, or its time is over: ask for a new one with `rookery workspace open`\n';
      return send(response, 403, 'text/plain', text);
    }
    const path = `/w/${pass.namespace}/${pass.name}/`;
    const age = Math.max(0, Math.floor((pass.expiresAt - this.#options.clock.now()) / 1000));
    const secure = this.#isSecure(request) ? '; Secure' : '';
    response.setHeader('set-cookie', `pass=${token}; Path=${path}; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`);
    // Not a redirect: a strict cookie is not sent on the way that another site began.
    const next = `<!doctype html><meta http-equiv="refresh" content="0;url=${path}"><a href="${path}">open</a>`;
    send(response, 200, 'text/html; charset=utf-8', next);
  }

  /** The pass of the workspace that the request is for; cookies of others do not count. */
  #passOf({ headers }: IncomingMessage, { namespace, name }: Place): Pass | undefined {
    const token = /(?:^|;\s*)pass=([^;]+)/.exec(headers.cookie ?? '')?.[1];
    const pass = token ? this.#options.links.verify(token) : undefined;
    return pass && pass.namespace === namespace && pass.name === name ? pass : undefined;
  }

  /** Browsers name the site that a request or a socket comes from; programs that name none are no danger to a cookie. */
  #isSameOrigin(request: IncomingMessage): boolean {
    const { origin } = request.headers;
    if (origin === undefined) return true;
    return (
      URL.canParse(origin) && [this.#options.proxies.hostOf(request), this.#site?.host].includes(new URL(origin).host)
    );
  }

  /** People came by TLS: a proxy says so, or they came to the site that has it. */
  #isSecure(request: IncomingMessage): boolean {
    const { proxies } = this.#options;
    if (proxies.isSecure(request)) return true;
    return this.#site?.protocol === 'https:' && proxies.hostOf(request) === this.#site.host;
  }

  get #site(): URL | undefined {
    const { publicUrl } = this.#options;
    return publicUrl === undefined ? undefined : new URL(publicUrl);
  }

  async #asset(response: ServerResponse, name: string): Promise<void> {
    try {
      const content = await readFile(new URL(name, this.#options.assets));
      send(response, 200, TYPES[extname(name)] ?? 'application/octet-stream', content);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      send(response, 404, 'text/plain', 'there is no such page\n');
    }
  }

  #fail(response: ServerResponse, error: unknown): void {
    if (response.headersSent) return void response.end();
    if (error instanceof RookeryError) {
      const code = STATUS[error.code] ?? (error.class === 'user' ? 400 : 503);
      // What is left of a request that was refused half-way is not read.
      if (code === 413) response.setHeader('connection', 'close');
      return json(response, code, { message: error.message });
    }
    this.#options.log.error('a page failed', { error: String(error) });
    json(response, 500, { message: 'something went wrong here; the log says what' });
  }
}

interface Place {
  namespace: string;
  name: string;
  /** What is asked for below the workspace. */
  rest: string;
}

function placeOf(request: IncomingMessage): Place | undefined {
  const [, namespace, name, rest = ''] = /^\/w\/([^/]+)\/([^/]+)\/(.*)$/.exec(urlOf(request)?.pathname ?? '') ?? [];
  return namespace && name ? { namespace, name, rest } : undefined;
}

function urlOf({ url = '/' }: IncomingMessage): URL | undefined {
  return URL.canParse(url, 'http://here') ? new URL(url, 'http://here') : undefined;
}

async function body(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_MAX) throw new RookeryError('http.too-large', 'the request is too large', { class: 'user' });
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString() || '{}');
  } catch {
    throw new RookeryError('http.body', 'the request is no JSON', { class: 'user' });
  }
}

function json(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, 'application/json', JSON.stringify(value));
}

function send(response: ServerResponse, status: number, type: string, content: string | Buffer): void {
  response.writeHead(status, { ...HEADERS, 'content-type': type }).end(content);
}
