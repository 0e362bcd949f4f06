/** The client of all measurements: undici, HTTP/1.1 with keep-alive over TLS, a bearer token. */
import { Pool } from 'undici';

export interface Listened {
  end(): void;
}

export class Client {
  readonly #pool: Pool;
  readonly #watches: Pool;
  readonly #headers: Record<string, string>;

  constructor(url: string, token: string) {
    const options = { pipelining: 1, connect: { rejectUnauthorized: false }, allowH2: false, bodyTimeout: 0 };
    this.#pool = new Pool(url, { ...options, connections: 32 });
    this.#watches = new Pool(url, { ...options, connections: null });
    this.#headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'user-agent': 'bench' };
  }

  /** The whole body; throws unless the answer is 2xx. Text is sent as it is, all else as JSON. */
  async call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Buffer> {
    const answer = await this.#pool.request({
      method,
      path,
      headers: { ...this.#headers, ...headers },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${bytes.subarray(0, 300)}`);
    return bytes;
  }

  /** Calls `line` for every line of a stream, on a connection of its own. Resolves when the stream has begun. */
  async follow(path: string, line: (text: string) => void, headers: Record<string, string> = {}): Promise<Listened> {
    const abort = new AbortController();
    const { body, statusCode } = await this.#watches.request({
      method: 'GET',
      path,
      headers: { ...this.#headers, ...headers },
      signal: abort.signal,
    });
    if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${await body.text()}`);
    let rest = '';
    body.setEncoding('utf8');
    body.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() as string;
      for (const one of lines) line(one);
    });
    body.on('error', () => {});
    return { end: () => abort.abort() };
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#watches.destroy()]);
  }
}
