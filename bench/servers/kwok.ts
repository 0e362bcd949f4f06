/** A cluster of kwok: kube-apiserver + etcd of the bed, and kwok playing the kubelets with the stages it is delivered with. */
import { spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from '../../test/bed/cache.ts';
import { program } from '../../test/bed/environment.ts';
import { kubeApiserver, whyNot as noServer } from './kube-apiserver.ts';
import type { Kind } from './server.ts';

const STAGES = ['node/fast', 'node/heartbeat-with-lease', 'pod/fast'];

/** Why it cannot be measured here; undefined when it can. */
export function whyNot(): string | undefined {
  try {
    program('kwok', 'kwok');
  } catch (error) {
    return (error as Error).message;
  }
  return noServer();
}

export const kwok: Kind = {
  name: 'kwok',
  async start(folder) {
    const server = await kubeApiserver.start(folder);
    const config = join(folder, 'kwok.yaml');
    writeFileSync(config, stages());
    const log = openSync(join(folder, 'kwok.log'), 'a');
    const args = [
      `--config=${config}`,
      `--kubeconfig=${join(folder, 'kubeconfig')}`,
      '--manage-all-nodes',
      '--node-lease-duration-seconds=40',
    ];
    const child = spawn(program('kwok', 'kwok'), args, { stdio: ['ignore', log, log] });
    return {
      ...server,
      pids: [...server.pids, child.pid as number],
      async stop() {
        child.kill('SIGKILL');
        await server.stop();
      },
    };
  },
};

/** Everything in the folders of its default stages, as one file. */
function stages(): string {
  const root = join(folderOf('kwok'), 'keep', 'kustomize', 'stage');
  return STAGES.flatMap((place) =>
    readdirSync(join(root, place))
      .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
      .map((file) => readFileSync(join(root, place, file), 'utf8')),
  ).join('\n---\n');
}
