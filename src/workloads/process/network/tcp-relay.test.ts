import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { relayTcp } from './tcp-relay.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const listening = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return (server.address() as { port: number }).port;
};
const relayed = async (host: string, port: number): Promise<{ inside: Socket; end: () => void }> => {
  const server = createServer();
  const inner = await listening(server);
  const end = relayTcp(server, { host, port });
  const inside = connect({ host: '127.0.0.1', port: inner, allowHalfOpen: true });
  inside.on('error', () => {});
  ends.push(() => inside.destroy());
  return { inside, end };
};
const textOf = async (socket: Socket): Promise<string> => {
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  await once(socket, 'end');
  return text;
};

it('takes bytes both ways, also after the client has said all it has to say', async () => {
  const big = 'x'.repeat(3_000_000);
  const port = await listening(
    createServer({ allowHalfOpen: true }, async (socket) => socket.end(`${(await textOf(socket)).length} ${big}`)),
  );
  const { inside } = await relayed('127.0.0.1', port);
  inside.end(big);
  expect((await textOf(inside)).length).toBe('3000000 '.length + big.length);
});

it('resets the client where the destination refuses', async () => {
  const gone = createServer();
  const port = await listening(gone);
  gone.close();
  await once(gone, 'close');
  const { inside } = await relayed('127.0.0.1', port);
  const [error] = await once(inside, 'error').catch((reason) => [reason]);
  expect((error as NodeJS.ErrnoException).code).toBe('ECONNRESET');
});

it('takes no name to this machine, whatever it leads to', async () => {
  const port = await listening(createServer((socket) => socket.end('secret')));
  const { inside } = await relayed('localhost', port);
  await expect(textOf(inside)).rejects.toMatchObject({ code: 'ECONNRESET' });
});

it('ends connections with it', async () => {
  const port = await listening(createServer((socket) => socket.write('hello')));
  const { inside, end } = await relayed('127.0.0.1', port);
  await once(inside, 'data');
  end();
  await once(inside, 'end');
});
