/** A TCP proxy that treats connections badly on demand: cut in the middle of the bytes, or left open and silent. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Connection } from '../connection.ts';

export interface FlakyProxy {
  /** The same API server, through the proxy. */
  connection: Connection;
  /** Destroys every connection, after a part of what was under way has been passed on. */
  cut(): void;
  /** Passes nothing on any more over the connections open now, and says nothing. */
  freeze(): void;
  /** Refuses new connections, until called with false. */
  refuse(isRefusing: boolean): void;
  close(): Promise<void>;
}

export async function startFlakyProxy(target: Connection): Promise<FlakyProxy> {
  const url = new URL(target.server);
  const pairs = new Set<[Socket, Socket]>();
  let isRefusing = false;
  let isCutting = false;
  const destroy = ([near, far]: [Socket, Socket]) => {
    near.destroy();
    far.destroy();
  };
  const server = createServer((near) => {
    if (isRefusing) return near.destroy();
    const far = connect(Number(url.port || 443), url.hostname);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    near.pipe(far);
    far.on('data', (chunk) => {
      if (!isCutting) return near.write(chunk);
      // Half a chunk, then nothing: the end of a TLS record or of a line gets lost.
      near.write(chunk.subarray(0, chunk.length >> 1), () => destroy(pair));
    });
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        destroy(pair);
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    connection: {
      ...target,
      server: `https://127.0.0.1:${port}${url.pathname === '/' ? '' : url.pathname}`,
      serverName: target.serverName ?? (/^[\d.:[\]]+$/.test(url.hostname) ? undefined : url.hostname),
    },
    cut() {
      isCutting = true;
      setTimeout(() => {
        isCutting = false;
        for (const pair of pairs) destroy(pair);
      }, 15);
    },
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        near.pause();
        far.removeAllListeners('data');
        far.pause();
      }
    },
    refuse(refusing) {
      isRefusing = refusing;
    },
    close() {
      for (const pair of pairs) destroy(pair);
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
