/** kube-apiserver + etcd of the real bed, started as the bed's tests start them (etcd without fsync). */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { program } from '../../test/bed/environment.ts';
import { kubeApiserver as service } from '../../test/bed/services/kube-apiserver.ts';
import { Client } from '../client.ts';
import { type Kind, untilReady } from './server.ts';

/** Why it cannot be measured here; undefined when it can. */
export function whyNot(): string | undefined {
  try {
    program('kubernetes', 'kube-apiserver');
    program('etcd', 'etcd');
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export const kubeApiserver: Kind = {
  name: 'kube-apiserver + etcd',
  async start(folder) {
    const children: ChildProcess[] = [];
    let first = 0;
    let ready: Promise<number> | undefined;
    const { env } = await service.start({
      folder,
      env: process.env,
      say: () => {},
      spawn(file, args, logName) {
        first ||= performance.now();
        const log = openSync(join(folder, logName), 'a');
        const child = spawn(file, [...args], { cwd: folder, stdio: ['ignore', log, log] });
        children.push(child);
        const port = args.map((arg) => /^--secure-port=(\d+)$/.exec(arg)?.[1]).find((found) => found);
        if (port) ready = untilReady(Number(port), () => child.exitCode !== null).then(() => performance.now());
      },
    });
    const startMs = ((await ready) ?? performance.now()) - first;
    const client = new Client(env.KUBE_SERVER as string, env.KUBE_TOKEN as string);
    return {
      client,
      startMs,
      pids: children.map((child) => child.pid as number),
      async stop() {
        await client.close();
        // The API server first: without its store it would only complain.
        for (const child of children.reverse()) await killed(child);
      },
    };
  },
};

function killed(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
  });
}
