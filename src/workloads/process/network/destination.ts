/** Where a workspace may connect to: a name or an address, and a port. */
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { parse } from 'yaml';

export interface Destination {
  host: string;
  port: number;
}

/** The servers that a kubeconfig names. Text that is none has none. */
export function serversOf(kubeconfig: string): Destination[] {
  const servers = (documentOf(kubeconfig)?.clusters ?? []).map((entry) => entry?.cluster?.server);
  return servers.flatMap((server) => (typeof server === 'string' && URL.canParse(server) ? [serverOf(server)] : []));
}

export function serverOf(url: string): Destination {
  const { hostname: host, port, protocol } = new URL(url);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'http:' ? 80 : 443)) };
}

function documentOf(text: string): { clusters?: ({ cluster?: { server?: unknown } } | undefined)[] } | undefined {
  try {
    const document: unknown = parse(text);
    const { clusters } = (document ?? {}) as { clusters?: unknown };
    return Array.isArray(clusters) ? { clusters } : undefined;
  } catch {
    return undefined;
  }
}

/** Names get addresses of the loopback network from here on; people do not use it. */
const PREFIX = '127.64';

/** Which address stands for a destination inside the network: an address for itself, a name gets one that stays. */
export class AddressBook {
  readonly #names = new Map<string, string>();

  addressOf(host: string): string {
    if (isIP(host)) return host;
    if (host === 'localhost') return '127.0.0.1';
    const known = this.#names.get(host);
    if (known) return known;
    const index = this.#names.size + 1;
    const address = `${PREFIX}.${index >> 8}.${index & 0xff}`;
    this.#names.set(host, address);
    return address;
  }

  /** The text of `/etc/hosts`. */
  hosts(): string {
    const lines = [`127.0.0.1 localhost ${hostname()}`, '::1 localhost ip6-localhost ip6-loopback'];
    for (const [name, address] of this.#names) lines.push(`${address} ${name}`);
    return `${lines.join('\n')}\n`;
  }
}
