// A port on loopback that leads into a cluster, for as long as the suite needs it.
import { spawn } from 'node:child_process';
import { program } from '../../bed/environment.ts';
import { killGroup } from '../../bed/process.ts';
import type { Kubectl } from './kubectl.ts';

export interface Forward {
  stop(): void;
}

export async function forward(
  kubectl: Kubectl,
  namespace: string,
  target: string,
  localPort: number,
  remotePort: number,
): Promise<Forward> {
  const args = [
    '--kubeconfig',
    kubectl.kubeconfig,
    'port-forward',
    '-n',
    namespace,
    target,
    `${localPort}:${remotePort}`,
    '--address',
    '127.0.0.1',
  ];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program('kubernetes', 'kubectl'), ...args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = (): void => killGroup(child.pid, 'SIGKILL');
  process.once('exit', stop);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', () => reject(new Error(`port-forward ended: ${errors.trim()}`)));
  });
  return { stop };
}
