/** Takes connections inside a workspace's network to one destination outside it. */
import { lookup } from 'node:dns';
import { connect, isIP, type LookupFunction, type Server, type Socket } from 'node:net';
import { hostGuard } from '../../../network/host-guard.ts';
import type { Destination } from './destination.ts';

const CONNECTIONS_MAX = 256;
const CONNECT_MS = 15_000;

/** Answers how to end it. */
export function relayTcp(server: Server, { host, port }: Destination): () => void {
  const sockets = new Set<Socket>();
  // An open port alone does not keep the control plane from ending.
  server.unref();
  server.maxConnections = CONNECTIONS_MAX;
  // A client that has said all it has to say still waits for the answer.
  (server as Server & { allowHalfOpen: boolean }).allowHalfOpen = true;
  server.on('connection', (inside) => {
    const outside = connect({ host, port, allowHalfOpen: true, ...(isIP(host) ? {} : { lookup: outsideOnly }) });
    for (const socket of [inside, outside]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    }
    outside.setTimeout(CONNECT_MS, () => outside.destroy(new Error('no answer')));
    outside.on('connect', () => outside.setTimeout(0));
    inside.on('error', () => outside.destroy());
    inside.on('close', () => outside.destroy());
    outside.on('error', () => inside.resetAndDestroy());
    outside.on('close', () => inside.destroySoon());
    inside.pipe(outside);
    outside.pipe(inside);
  });
  return () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
}

/** A name is allowed for what it is outside: the owner of its zone cannot let it lead to this machine. An address is taken as it was written. */
const outsideOnly: LookupFunction = (name, options, callback) => {
  lookup(name, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, '');
    const outside = found.filter(({ address }) => !hostGuard.refuses(address));
    const [first] = outside;
    if (!first) return callback(new Error(`${name} is an address of this machine`), '');
    if (options.all) return callback(null, outside);
    return callback(null, first.address, first.family);
  });
};
