import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MachineNetwork, machineNetwork } from '../bed/services/machine.ts';
import { acquire } from '../bed/services/service.ts';
import { kubernetesVersion } from '../bed/versions.ts';
import { type Engine, engine } from './support/engine.ts';

function ask(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(`${line}\r\n`));
    socket.once('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().trim());
    });
  });
}

describe('the bed’s own services', () => {
  let docker: Engine;
  let machines: MachineNetwork | undefined;
  beforeAll(async () => {
    docker = await engine('node-image');
    await docker.clear('bed-hosts');
  });
  afterAll(async () => {
    await machines?.remove();
    await docker?.release();
  });

  test('everyone gets a Redis of their own', async () => {
    const [one, other] = await Promise.all([acquire('redis'), acquire('redis')]);
    const port = (lease: typeof one): number => Number(new URL(lease.env.REDIS_URL as string).port);
    expect(await ask(port(one), 'SET key value')).toBe('+OK');
    expect(await ask(port(other), 'EXISTS key')).toBe(':0');
    await Promise.all([one.release(), other.release()]);
    await expect(ask(port(one), 'PING')).rejects.toThrow();
  });

  test('a machine takes commands over ssh and knows its neighbour by name', async () => {
    machines = await machineNetwork('bed-hosts', `rookery-bed/node:${kubernetesVersion}`, docker.variables);
    const [one] = await Promise.all([machines.add('one'), machines.add('two')]);
    expect(await one.ssh('hostname')).toBe('one\n');
    expect(await one.ssh('kubeadm version -o short')).toBe(`${kubernetesVersion}\n`);
    expect(await one.ssh('ping -c 1 -W 2 two')).toContain('1 received');
  });
});
