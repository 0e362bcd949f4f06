// The bed's engine for one suite: images loaded, commands run in its environment, what the suite made removed at the end.
import { bedEnvironment, program } from '../../bed/environment.ts';
import { type RunResult, run, tryRun } from '../../bed/process.ts';
import { loadImages } from '../../bed/services/image-store.ts';
import { acquire } from '../../bed/services/service.ts';

export interface Engine {
  readonly env: NodeJS.ProcessEnv;
  readonly variables: Record<string, string>;
  run(program: string, ...args: string[]): Promise<string>;
  try(program: string, ...args: string[]): Promise<RunResult>;
  docker(...args: string[]): Promise<string>;
  /** Names of containers, networks and volumes that begin with a prefix. */
  found(prefix: string): Promise<string[]>;
  /** Removes them, as a killed run may have left them while somebody else kept the engine up. */
  clear(prefix: string): Promise<void>;
  release(): Promise<void>;
}

export async function engine(...images: string[]): Promise<Engine> {
  const lease = await acquire('docker');
  await loadImages(images, lease.env);
  const env = { ...bedEnvironment(), ...lease.env };
  const docker = (...args: string[]): Promise<string> =>
    run(program('docker', 'docker'), args, { env, timeoutMs: 120_000 });
  const clear = async (prefix: string): Promise<void> => {
    for (const [list, remove] of [
      [
        ['ps', '-a', '--format', '{{.Names}}'],
        ['rm', '-f', '-v'],
      ],
      [
        ['network', 'ls', '--format', '{{.Name}}'],
        ['network', 'rm'],
      ],
      [
        ['volume', 'ls', '--format', '{{.Name}}'],
        ['volume', 'rm', '-f'],
      ],
    ] as const) {
      const names = named(await docker(...list), prefix);
      if (names.length > 0) await docker(...remove, ...names);
    }
  };
  const named = (text: string, prefix: string): string[] => text.split('\n').filter((name) => name.startsWith(prefix));
  return {
    env,
    variables: lease.env,
    run: (name, ...args) => run(name, args, { env, timeoutMs: 300_000 }),
    try: (name, ...args) => tryRun(name, args, { env, timeoutMs: 300_000 }),
    docker,
    clear,
    found: async (prefix) => [
      ...named(await docker('ps', '-a', '--format', '{{.Names}}'), prefix),
      ...named(await docker('network', 'ls', '--format', '{{.Name}}'), prefix),
      ...named(await docker('volume', 'ls', '--format', '{{.Name}}'), prefix),
    ],
    release: lease.release,
  };
}
