import { expect, it } from 'vitest';
import { Docker } from './docker.ts';
import type { Processes } from './processes.ts';

const HOSTILE = '--volume=/:/host';

function recording(): { docker: Docker; calls: (readonly string[])[] } {
  const calls: (readonly string[])[] = [];
  const processes: Processes = {
    env: {},
    run: async (_program, args) => {
      calls.push(args);
      return { code: 0, stdout: args[0] === 'ps' ? HOSTILE : '[]', stderr: '' };
    },
    start: () => {},
    isAlive: async () => false,
    kill: () => {},
  };
  return { docker: new Docker(processes), calls };
}

it.each<[string, (docker: Docker) => Promise<unknown>]>([
  ['containers', (docker) => docker.containers('a=b')],
  ['start', (docker) => docker.start([HOSTILE])],
  ['stop', (docker) => docker.stop([HOSTILE])],
  ['kill', (docker) => docker.kill([HOSTILE])],
  ['remove', (docker) => docker.remove([HOSTILE])],
  ['isMaking', (docker) => docker.isMaking('name', { args: [], image: HOSTILE })],
  ['network', (docker) => docker.network(HOSTILE)],
  ['removeNetwork', (docker) => docker.removeNetwork(HOSTILE)],
  ['disconnect', (docker) => docker.disconnect(HOSTILE, HOSTILE)],
  ['hasVolume', (docker) => docker.hasVolume(HOSTILE)],
  ['removeVolume', (docker) => docker.removeVolume(HOSTILE)],
  ['images', (docker) => docker.images(HOSTILE)],
  ['imageId', (docker) => docker.imageId(HOSTILE)],
])('%s takes a name that begins with a dash for a name', async (_method, call) => {
  const { docker, calls } = recording();
  await call(docker);
  const named = calls.filter((args) => args.includes(HOSTILE));
  expect(named.length).toBeGreaterThan(0);
  for (const args of named) expect(args.indexOf('--')).toBeLessThan(args.indexOf(HOSTILE));
  for (const args of named) expect(args).toContain('--');
});
