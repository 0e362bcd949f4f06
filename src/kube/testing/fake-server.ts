/**
 * A real HTTPS server that answers as told, request by request: for what a well-behaved API server never does.
 * Certificates are made when it starts.
 */
import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import type { Connection } from '../connection.ts';

export interface Exchange {
  url: URL;
  method: string;
  headers: IncomingMessage['headers'];
  body: string;
  response: ServerResponse;
  json(code: number, body: unknown, headers?: Record<string, string>): void;
  /** Begins a streamed answer. */
  stream(): void;
  /** One event on a streamed answer. */
  event(type: string, object: unknown): void;
  /** Closes the connection without any ceremony. */
  reset(): void;
}

export interface FakeServer {
  connection: Connection;
  port: number;
  /** Every request so far. */
  requests: Exchange[];
  /** Ends all connections; the server stays. */
  resetAll(): void;
  close(): Promise<void>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const;

export async function startFakeServer(handle: (exchange: Exchange) => void, port = 0): Promise<FakeServer> {
  const { cert, key } = await makeCertificate();
  const requests: Exchange[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const exchange = exchangeOf(request, response, Buffer.concat(chunks).toString());
      requests.push(exchange);
      handle(exchange);
    });
  });
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const actual = (server.address() as AddressInfo).port;
  const resetAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: actual,
    requests,
    connection: { server: `https://localhost:${actual}`, ca: cert },
    resetAll,
    close: () => {
      resetAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function exchangeOf(request: IncomingMessage, response: ServerResponse, body: string): Exchange {
  return {
    url: new URL(request.url ?? '/', 'https://localhost'),
    method: request.method ?? '',
    headers: request.headers,
    body,
    response,
    json(code, answer, headers = {}) {
      response.writeHead(code, { 'content-type': 'application/json', ...headers });
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    },
    stream() {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
    },
    event(type, object) {
      response.write(`${JSON.stringify({ type, object })}\n`);
    },
    reset() {
      request.socket.destroy();
    },
  };
}

async function makeCertificate(): Promise<{ cert: string; key: string }> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    keys,
    signingAlgorithm: { ...ALGORITHM, hash: 'SHA-256' },
    extensions: [
      new BasicConstraintsExtension(true),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const key = `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`;
  return { cert: certificate.toString('pem'), key };
}
