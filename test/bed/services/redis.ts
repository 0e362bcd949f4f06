// A Redis of one's own: nothing on disk, loopback only.
import { connect } from 'node:net';
import { waitFor } from '../process.ts';
import { killInstance } from './mark.ts';
import { freePorts } from './port.ts';
import type { ServiceKind } from './service.ts';

/** Sends PING in Redis' inline form and looks for its answer: an open port alone says nothing. */
function ping(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 });
    socket.once('error', () => resolve(false));
    socket.once('timeout', () => socket.destroy() && resolve(false));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().startsWith('+PONG'));
    });
    socket.once('connect', () => socket.write('PING\r\n'));
  });
}

export const redis: ServiceKind = {
  name: 'redis',
  shared: false,
  async start({ spawn }) {
    const [port] = await freePorts(1);
    spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--daemonize', 'no'],
      'redis.log',
    );
    await waitFor('redis', 10_000, () => ping(port as number), 50);
    return { env: { REDIS_URL: `redis://127.0.0.1:${port}` }, restore: {} };
  },
  healthy: async (state) => ping(Number(new URL(state.env.REDIS_URL as string).port)),
  async stop(folder) {
    killInstance(folder);
  },
};
