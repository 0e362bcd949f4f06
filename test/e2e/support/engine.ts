// The bed's engine for one suite: images loaded, commands run in its environment, what the suite made removed at the end.
import { bedEnvironment, program } from '../../bed/environment.ts';
import { run, type RunResult, tryRun } from '../../bed/process.ts';
import { loadImages } from '../../bed/services/image-store.ts';
import { acquire } from '../../bed/services/service.ts';

export interface Engine {
  readonly env: NodeJS.ProcessEnv;
  readonly variables: Record<string, string>;
  run(program: string, ...args: string[]): Promise<string>;
  try(program: string, ...args: string[]): Promise<RunResult>;
  docker(...args: string[]): Promise<string>;
  /** Names of containers, networks and volumes that carry a label or begin with a name. */
  found(prefix: string): Promise<string[]>;
  release(): Promise<void>;
}

export async function engine(...images: string[]): Promise<Engine> {
  const lease = await acquire('docker');
  await loadImages(images, lease.env);
  const env = { ...bedEnvironment(), ...lease.env };
  const docker = (...args: string[]): Promise<string> => run(program('docker', 'docker'), args, { env, timeoutMs: 120_000 });
  const named = (text: string, prefix: string): string[] => text.split('\n').filter((name) => name.startsWith(prefix));
  return {
    env,
    variables: lease.env,
    run: (name, ...args) => run(name, args, { env, timeoutMs: 300_000 }),
    try: (name, ...args) => tryRun(name, args, { env, timeoutMs: 300_000 }),
    docker,
    found: async (prefix) => [
      ...named(await docker('ps', '-a', '--format', '{{.Names}}'), prefix),
      ...named(await docker('network', 'ls', '--format', '{{.Name}}'), prefix),
      ...named(await docker('volume', 'ls', '--format', '{{.Name}}'), prefix),
    ],
    release: lease.release,
  };
}
