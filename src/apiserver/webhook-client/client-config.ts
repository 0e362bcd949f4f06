/** Where a webhook is, as configurations and CRDs say it, and how messages name it. */
export interface ClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  /** Base64 of PEM; without it the certificates this machine trusts. */
  caBundle?: string;
}

/** What is dialled, what its certificate must say, and the URL that messages show. */
export interface Target {
  host: string;
  port: number;
  /** Absent where the host is an address: then the certificate has to name that. */
  serverName?: string;
  path: string;
  /** The `Host:` header. */
  authority: string;
  shown: string;
}

export function serviceHost(service: { namespace: string; name: string }): string {
  return `${service.name}.${service.namespace}.svc`;
}

/** The URL of a call; Go's clients tell the server how long they wait. */
export function shownUrl(config: ClientConfig, timeoutMs: number): string {
  const query = `?timeout=${Math.max(1, Math.ceil(timeoutMs / 1000))}s`;
  const { service } = config;
  if (service) return `https://${serviceHost(service)}:${service.port ?? 443}${rooted(service.path)}${query}`;
  const url = new URL(config.url ?? '');
  return `${url.origin}${rooted(url.pathname)}${query}`;
}

function rooted(path: string | undefined): string {
  return path?.startsWith('/') ? path : `/${path ?? ''}`;
}
