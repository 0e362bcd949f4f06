/** Connections without a valid credential so far: their number is limited, and the oldest is closed first. */

import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';

type Address = Pick<Socket, 'remoteAddress' | 'remotePort'>;

export class Strangers {
  /** By the address of the client: the socket of TLS is another object than the one below it. */
  readonly #sockets = new Map<string, Socket>();

  constructor(server: Http2SecureServer, limit: number) {
    server.on('connection', (socket: Socket) => {
      const key = keyOf(socket);
      this.#sockets.set(key, socket);
      socket.once('close', () => this.#sockets.get(key) === socket && this.#sockets.delete(key));
      if (this.#sockets.size > limit) this.#dropOldest();
    });
  }

  /** The client has authenticated. */
  forget(address: Address): void {
    this.#sockets.delete(keyOf(address));
  }

  #dropOldest(): void {
    for (const [key, socket] of this.#sockets) {
      this.#sockets.delete(key);
      socket.destroy();
      return;
    }
  }
}

function keyOf({ remoteAddress, remotePort }: Address): string {
  return `${remoteAddress} ${remotePort}`;
}
