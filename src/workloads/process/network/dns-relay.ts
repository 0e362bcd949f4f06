/** Takes questions to the name servers of this machine and answers back. */
import { createSocket, type Socket } from 'node:dgram';
import { getServers } from 'node:dns';
import { isIPv6 } from 'node:net';
import type { Destination } from './destination.ts';

export const DNS_PORT = 53;
const ANSWER_MS = 5000;
/** Of one workspace; more are dropped, as a busy name server does. */
const QUESTIONS_MAX = 32;

/** The name servers of this machine, in the order of its `resolv.conf`. */
export function nameServers(known: readonly string[] = getServers()): Destination[] {
  return known.map((text) => {
    const [, v6, v6port, v4, v4port] = /^\[([^\]]+)\](?::(\d+))?$|^([\d.]+)(?::(\d+))?$/.exec(text) ?? [];
    return { host: v6 ?? v4 ?? text, port: Number(v6port ?? v4port ?? DNS_PORT) };
  });
}

/** Answers how to end it. */
export function relayDns(socket: Socket, servers: readonly Destination[]): () => void {
  const open = new Set<Socket>();
  let turn = 0;
  socket.on('message', (question, { address, port }) => {
    const server = servers[turn % servers.length];
    if (!server || open.size >= QUESTIONS_MAX) return;
    // A socket for each question: its port is not to be guessed, and it hears one server only.
    const outside = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4');
    const end = () => {
      clearTimeout(timer);
      if (open.delete(outside)) outside.close();
    };
    const timer = setTimeout(() => {
      turn++;
      end();
    }, ANSWER_MS);
    open.add(outside);
    outside.on('error', end);
    outside.on('message', (answer) => {
      socket.send(answer, port, address, () => {});
      end();
    });
    outside.connect(server.port, server.host, () => outside.send(question));
  });
  socket.on('error', () => {});
  socket.unref();
  return () => {
    for (const each of [socket, ...open]) each.close();
    open.clear();
  };
}
