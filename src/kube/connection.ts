/**
 * Where an API server is and how to prove who we are: what a kubeconfig, a service account or a test boils down to.
 * Credentials that change (token files, exec plugins) are asked for again on every request.
 */
import type { LookupFunction } from 'node:net';

export type Headers = Record<string, string | string[]>;

export interface Connection {
  /** With any path prefix, e.g. `https://127.0.0.1:6443/clusters/demo`. */
  server: string;
  /** PEM. Absent: the system's roots. */
  ca?: string;
  /** PEM of the client certificate and its key. */
  cert?: string;
  key?: string;
  /** Name to check the server's certificate against, where it is not the host of `server`. */
  serverName?: string;
  /** Do not check the server's certificate. */
  insecure?: boolean;
  proxyUrl?: string;
  /** Finds the addresses of the server's name; one that refuses some keeps the connection away from them. */
  lookup?: LookupFunction;
  /** The namespace of the context, for commands that fall back to it. */
  namespace?: string;
  /** Authorization and impersonation headers of one request. */
  headers?(): Promise<Headers> | Headers;
}
