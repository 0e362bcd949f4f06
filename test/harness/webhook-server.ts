// A webhook as people run them: HTTPS with a certificate of its own CA, one path for each thing it can do.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/clock.ts';
import { createCa, issueServer } from '../../src/vault/certificates.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
type Any = any;

/** What a path answers: the body of an answer, or what it does with the response itself. */
export type Handler = (review: Any, response: ServerResponse) => Any;

export interface WebhookServer {
  port: number;
  caBundle: string;
  /** Of the last call to each path, and how often it was called. */
  seen: Map<string, { review: Any; headers: IncomingMessage['headers']; url: string; calls: number }>;
  /** `clientConfig` of a path. */
  at(path: string): { url: string; caBundle: string };
  on(path: string, handler: Handler): void;
  calls(path: string): number;
  /** TCP connections taken so far. */
  connections: number;
  /** Closes those that are open. */
  drop(): void;
  close(): Promise<void>;
}

export async function startWebhookServer(hosts: string[] = ['127.0.0.1']): Promise<WebhookServer> {
  const ca = createCa('webhook-ca', { clock: systemClock });
  const handlers = new Map<string, Handler>();
  const seen: WebhookServer['seen'] = new Map();
  const server = createServer(issueServer(ca, 'webhook', hosts, { clock: systemClock }), (request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    });
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const path = (request.url ?? '').split('?')[0] as string;
    const review = JSON.parse(Buffer.concat(pieces).toString());
    const calls = (seen.get(path)?.calls ?? 0) + 1;
    seen.set(path, { review, headers: request.headers, url: request.url ?? '', calls });
    const handler = handlers.get(path);
    if (!handler) {
      response.statusCode = 404;
      response.end('404 page not found\n');
      return;
    }
    const body = await handler(review, response);
    if (body === undefined) return;
    response.setHeader('content-type', 'application/json');
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const self = { connections: 0 } as WebhookServer;
  server.on('secureConnection', () => {
    self.connections++;
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const caBundle = Buffer.from(ca.cert).toString('base64');
  return Object.assign(self, {
    port,
    caBundle,
    seen,
    at: (path: string) => ({ url: `https://127.0.0.1:${port}${path}`, caBundle }),
    on: (path: string, handler: Handler) => void handlers.set(path, handler),
    drop: () => server.closeAllConnections(),
    calls: (path: string) => seen.get(path)?.calls ?? 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

/** An AdmissionReview that answers another. */
export function admission(review: Any, response: object): object {
  return { kind: review.kind, apiVersion: review.apiVersion, response: { uid: review.request.uid, ...response } };
}

export const allow: Handler = (review) => admission(review, { allowed: true });

export function deny(status?: object): Handler {
  return (review) => admission(review, { allowed: false, ...(status ? { status } : {}) });
}

export function patch(operations: object[]): Handler {
  return (review) => {
    const text = Buffer.from(JSON.stringify(operations)).toString('base64');
    return admission(review, { allowed: true, patch: text, patchType: 'JSONPatch' });
  };
}

/** A ConversionReview that answers another with each object as `convert` makes it. */
export function conversion(convert: (object: Any, apiVersion: string) => Any): Handler {
  return ({ apiVersion, request }) => ({
    kind: 'ConversionReview',
    apiVersion,
    response: {
      uid: request.uid,
      result: { status: 'Success' },
      convertedObjects: request.objects.map((object: Any) =>
        convert(structuredClone(object), request.desiredAPIVersion),
      ),
    },
  });
}
