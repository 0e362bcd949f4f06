import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { ttydTerminal } from './ttyd.ts';

const folder = mkdtempSync(join(tmpdir(), 'ttyd-'));
const socket = join(folder, 'tty.sock');
const size = { columns: 80, rows: 24 };
let server: Server;

beforeAll(async () => {
  server = createServer();
  new WebSocketServer({ server, path: '/ws' }).on('connection', (connection) => {
    connection.on('message', (data) => connection.send(`0<${data.toString()}>`));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

describe.runIf(process.platform === 'linux')('a shell behind ttyd', () => {
  it('is reached by its socket', async () => {
    const terminal = await ttydTerminal(socket, size);
    let text = '';
    terminal.onData((data) => {
      text += data;
    });
    terminal.write('ls');
    await expect.poll(() => text).toBe('<{"AuthToken":"","columns":80,"rows":24}><0ls>');
    terminal.close();
  });

  it('is not reached by a link that a student put there, nor by a file', async () => {
    const link = join(folder, 'link.sock');
    symlinkSync(socket, link);
    await expect(ttydTerminal(link, size)).rejects.toThrow('something else in the place of its socket');
    const file = join(folder, 'file.sock');
    writeFileSync(file, '');
    await expect(ttydTerminal(file, size)).rejects.toThrow('something else in the place of its socket');
    await expect(ttydTerminal(join(folder, 'none'), size)).rejects.toThrow('ENOENT');
  });
});
