// A real SSH server in this process, from the library's own server side: it runs what it is told with /bin/sh, as this user.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import ssh2, { type Connection } from 'ssh2';

const { Server, utils } = ssh2;

export interface TestSshServer {
  readonly port: number;
  /** A key it accepts. */
  readonly clientKey: string;
  /** Ends all connections, as a broken line would; the server goes on. */
  cut(): void;
  /** From now on it shows another key. */
  close(): Promise<void>;
}

export function newKey(): string {
  return utils.generateKeyPairSync('ed25519').private;
}

/** RSA in the form of older tools. */
export function newPemKey(): string {
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString();
}

export async function sshServer(
  options: { port?: number; hostKey?: string; clientKey?: string } = {},
): Promise<TestSshServer> {
  const clientKey = options.clientKey ?? newKey();
  const accepted = utils.parseKey(clientKey);
  if (accepted instanceof Error) throw accepted;
  const allowed = accepted.getPublicSSH();
  const open = new Set<Connection>();
  const children = new Set<ChildProcess>();
  const server = new Server({ hostKeys: [options.hostKey ?? newKey()] }, (client) => {
    open.add(client);
    client.on('error', () => {});
    client.on('close', () => open.delete(client));
    client.on('authentication', (context) => {
      const isKnown = context.method === 'publickey' && context.key.data.equals(allowed);
      if (isKnown) context.accept();
      else context.reject(['publickey']);
    });
    client.on('session', (accept) => {
      accept().on('exec', (acceptExec, _reject, { command }) => {
        const channel = acceptExec();
        const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'pipe'] });
        children.add(child);
        child.stdin.on('error', () => {});
        channel.pipe(child.stdin);
        child.stdout.pipe(channel, { end: false });
        child.stderr.pipe(channel.stderr, { end: false });
        channel.on('error', () => {});
        child.on('close', (code) => {
          children.delete(child);
          channel.exit(code ?? 255);
          channel.end();
        });
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    clientKey,
    cut: () => {
      for (const client of open) client.end();
    },
    close: async () => {
      for (const child of children) child.kill('SIGKILL');
      for (const client of open) client.end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
