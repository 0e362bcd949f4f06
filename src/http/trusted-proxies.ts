/** Proxies before us whose headers are believed: which protocol and which host people really used. Anybody else could make them up. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { RookeryError } from '../errors.ts';

export class TrustedProxies {
  readonly #known = new BlockList();

  constructor(addresses: readonly string[]) {
    for (const text of addresses) {
      const [address = '', bits] = text.split('/');
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      const most = family === 'ipv6' ? 128 : 32;
      const prefix = bits === undefined ? most : Number(bits);
      if (isIP(address) === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > most) throw wrong(text);
      this.#known.addSubnet(address, prefix, family);
    }
  }

  /** Whether people came by TLS. */
  isSecure(request: IncomingMessage): boolean {
    return this.#isTrusted(request) && first(request.headers['x-forwarded-proto']) === 'https';
  }

  /** The host that people see in their address bar. */
  hostOf(request: IncomingMessage): string | undefined {
    const told = this.#isTrusted(request) ? first(request.headers['x-forwarded-host']) : undefined;
    return told ?? request.headers.host;
  }

  #isTrusted({ socket }: IncomingMessage): boolean {
    const address = (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
    const family = isIP(address);
    return family !== 0 && this.#known.check(address, family === 6 ? 'ipv6' : 'ipv4');
  }
}

/** The one nearest to the people, where several proxies added theirs. */
function first(header: string | string[] | undefined): string | undefined {
  return (
    String(header ?? '')
      .split(',', 1)[0]
      ?.trim()
      .toLowerCase() || undefined
  );
}

function wrong(text: string): RookeryError {
  return new RookeryError('config.value', `ROOKERY_TRUSTED_PROXIES: ${JSON.stringify(text)} is no address`, {
    class: 'user',
    hint: 'write addresses or networks with commas between: 127.0.0.1, 10.0.0.0/8',
  });
}
