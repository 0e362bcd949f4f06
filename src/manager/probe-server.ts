/** `/healthz`, `/readyz` and `/metrics` over plain HTTP, as kubelets and Prometheus ask for them. */
import { createServer, type Server } from 'node:http';
import { RookeryError } from '../errors.ts';
import type { Runnable } from '../kube/index.ts';

export interface ProbeServerOptions {
  host: string;
  port: number;
  /** What keeps it from being ready, one sentence each. */
  missing(): string[];
  /** Absent: no `/metrics` here. */
  metrics?: () => { contentType: string; body: string };
}

/** Runs in every replica: a standby is healthy too. */
export function probeServer(options: ProbeServerOptions): Runnable {
  return {
    name: `probes on port ${options.port}`,
    everyReplica: true,
    async run(signal) {
      const server = createServer((request, response) => {
        const { code, type, body } = answer(request.url ?? '/', options);
        response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
      });
      await listen(server, options);
      await new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const TEXT = 'text/plain; charset=utf-8';

function answer(url: string, { missing, metrics }: ProbeServerOptions): { code: number; type: string; body: string } {
  switch (url.split('?', 1)[0]) {
    case '/healthz':
    case '/livez':
      return { code: 200, type: TEXT, body: 'ok' };
    case '/readyz': {
      const reasons = missing();
      if (reasons.length === 0) return { code: 200, type: TEXT, body: 'ok' };
      return { code: 503, type: TEXT, body: `not ready: ${reasons.join('; ')}\n` };
    }
    case '/metrics':
      if (metrics) return { code: 200, type: metrics().contentType, body: metrics().body };
  }
  return { code: 404, type: TEXT, body: 'here are /healthz, /readyz and, on its port, /metrics\n' };
}

function listen(server: Server, { host, port }: ProbeServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new RookeryError('manager.port', `cannot listen on ${host}:${port}: ${cause.message}`, {
          class: 'user',
          hint: 'choose another with --health-port or --metrics-port, or another address with --probe-host',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}
