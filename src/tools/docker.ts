/**
 * A Docker engine through its command line, as far as provisioners need it. Everything found is returned by id. Names stand behind `--`: one that begins
 * with a dash is a name that does not exist, never an option.
 */
import { RookeryError } from '../errors.ts';
import type { Processes } from './processes.ts';

export interface Container {
  id: string;
  name: string;
  image: string;
  createdAt: number;
  /** `running`, `exited`, `created`, `paused`, … */
  state: string;
  labels: Record<string, string>;
  mounts: { source: string; destination: string }[];
}

export interface Network {
  id: string;
  /** Ids of the containers on it, running or not. */
  containers: string[];
}

export interface LocalImage {
  /** `repository:tag`, absent for an image known by digest only. */
  tag?: string;
  /** `sha256:…` of the registry it came from. */
  digest?: string;
}

export class Docker {
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  /** The engine's version. Throws `docker.unreachable` or `tool.missing`. */
  async version(signal?: AbortSignal): Promise<string> {
    return (await this.#run(['version', '--format', '{{.Server.Version}}'], signal)).trim();
  }

  async containers(label: string, signal?: AbortSignal): Promise<Container[]> {
    const ids = lines(await this.#run(['ps', '-aq', '--no-trunc', '--filter', `label=${label}`], signal));
    if (ids.length === 0) return [];
    const { stdout, stderr, code } = await this.#try(['inspect', '--type', 'container', '--', ...ids], signal);
    // Some may have gone since they were listed; the others are printed all the same.
    if (code !== 0 && !/no such (container|object)/i.test(stderr)) throw failure(['inspect'], stderr);
    return (JSON.parse(stdout || '[]') as Inspected[]).map(container);
  }

  async start(ids: string[], signal?: AbortSignal): Promise<void> {
    await this.#run(['start', '--', ...ids], signal);
  }

  async stop(ids: string[], signal?: AbortSignal): Promise<void> {
    await this.#run(['stop', '--time', '20', '--', ...ids], signal);
  }

  /** At once, without asking the programs in them; they stay stopped. */
  async kill(ids: string[], signal?: AbortSignal): Promise<void> {
    const { code, stderr } = await this.#try(['kill', '--', ...ids], signal);
    if (code !== 0 && !lines(stderr).every((line) => /is not running|no such container/i.test(line))) {
      throw failure(['kill'], stderr);
    }
  }

  /** With their anonymous volumes; those that are gone already are no error. */
  async remove(ids: string[], signal?: AbortSignal): Promise<void> {
    const { code, stderr } = await this.#try(['rm', '-f', '-v', '--', ...ids], signal);
    const harmless =
      /^(Error response from daemon: )?(Error: )?(No such container|removal of container .* is already in progress)/i;
    if (code !== 0 && !lines(stderr).every((line) => harmless.test(line))) throw failure(['rm'], stderr);
  }

  /**
   * Whether the engine is still making a container of that name for a client that was killed. It holds the name from the beginning but
   * lists the container only at the end, so listing cannot tell; asking for the name can. `like` is how the placeholder is made.
   */
  async isMaking(name: string, like: { args: string[]; image: string }, signal?: AbortSignal): Promise<boolean> {
    const create = ['create', '--pull', 'never', '--name', name, ...like.args, '--', like.image];
    const { code, stderr } = await this.#try(create, signal);
    if (code === 0) {
      await this.remove([name], signal);
      return false;
    }
    if (/no such image/i.test(stderr)) return false;
    if (!/is already in use by container/i.test(stderr)) throw failure(['create'], stderr);
    return (await this.#try(['inspect', '--type', 'container', '--', name], signal)).code !== 0;
  }

  async network(name: string, signal?: AbortSignal): Promise<Network | undefined> {
    const { code, stdout, stderr } = await this.#try(['network', 'inspect', '--', name], signal);
    if (code !== 0) {
      if (/not found|no such network/i.test(stderr)) return undefined;
      throw failure(['network', 'inspect'], stderr);
    }
    const [found] = JSON.parse(stdout) as { Id: string }[];
    if (!found) return undefined;
    const filter = `network=${found.Id}`;
    return {
      id: found.Id,
      containers: lines(await this.#run(['ps', '-aq', '--no-trunc', '--filter', filter], signal)),
    };
  }

  /** False when somebody uses it. */
  async removeNetwork(id: string, signal?: AbortSignal): Promise<boolean> {
    const { code, stderr } = await this.#try(['network', 'rm', '--', id], signal);
    if (code === 0 || /not found|no such network/i.test(stderr)) return true;
    if (/active endpoints|in use/i.test(stderr)) return false;
    throw failure(['network', 'rm'], stderr);
  }

  async disconnect(network: string, container: string, signal?: AbortSignal): Promise<void> {
    const { code, stderr } = await this.#try(['network', 'disconnect', '--force', '--', network, container], signal);
    if (code !== 0 && !/is not connected|not found|no such (network|container)/i.test(stderr)) {
      throw failure(['network', 'disconnect'], stderr);
    }
  }

  async hasVolume(name: string, signal?: AbortSignal): Promise<boolean> {
    const { code, stderr } = await this.#try(['volume', 'inspect', '--', name], signal);
    if (code !== 0 && !/no such volume/i.test(stderr)) throw failure(['volume', 'inspect'], stderr);
    return code === 0;
  }

  /** False when somebody uses it. */
  async removeVolume(name: string, signal?: AbortSignal): Promise<boolean> {
    const { code, stderr } = await this.#try(['volume', 'rm', '--', name], signal);
    if (code === 0 || /no such volume/i.test(stderr)) return true;
    if (/in use/i.test(stderr)) return false;
    throw failure(['volume', 'rm'], stderr);
  }

  async images(repository: string, signal?: AbortSignal): Promise<LocalImage[]> {
    const format = '{{.Repository}}\t{{.Tag}}\t{{.Digest}}';
    const text = await this.#run(['images', '--digests', '--format', format, '--', repository], signal);
    const known = (value: string | undefined) => (value && value !== '<none>' ? value : undefined);
    return lines(text).map((line) => {
      const [name, tag, digest] = line.split('\t');
      return { tag: known(tag) && `${name}:${tag}`, digest: known(digest) };
    });
  }

  /** The id of an image on this machine, which changes when the image does; undefined where there is none. */
  async imageId(reference: string, signal?: AbortSignal): Promise<string | undefined> {
    const { code, stdout, stderr } = await this.#try(
      ['image', 'inspect', '--format', '{{.Id}}', '--', reference],
      signal,
    );
    if (code === 0) return stdout.trim();
    if (/no such (image|object)/i.test(stderr)) return undefined;
    throw failure(['image', 'inspect'], stderr);
  }

  async #run(args: string[], signal?: AbortSignal): Promise<string> {
    const { code, stdout, stderr } = await this.#try(args, signal);
    if (code !== 0) throw failure(args, stderr);
    return stdout;
  }

  async #try(args: string[], signal?: AbortSignal) {
    const result = await this.#processes.run('docker', args, { signal });
    if (result.code !== 0 && UNREACHABLE.test(result.stderr)) throw unreachable(result.stderr);
    return result;
  }
}

const UNREACHABLE =
  /cannot connect to the docker daemon|permission denied while trying to connect|failed to connect to the docker API|error during connect|connection refused|unable to resolve docker endpoint/i;

function unreachable(text: string): RookeryError {
  const isForbidden = /permission denied/i.test(text);
  return new RookeryError('docker.unreachable', `Docker does not answer: ${text.trim().split('\n')[0]}`, {
    class: 'retryable',
    hint: isForbidden
      ? 'let your user use Docker: sudo usermod -aG docker "$USER", then log in again'
      : 'start Docker: sudo systemctl start docker (Linux) or open Docker Desktop; DOCKER_HOST says where it is',
  });
}

function failure(args: string[], stderr: string): RookeryError {
  return new RookeryError('docker.failed', `docker ${args.slice(0, 2).join(' ')}: ${stderr.trim().slice(0, 2000)}`, {
    class: 'retryable',
  });
}

interface Inspected {
  Id: string;
  Name: string;
  Created: string;
  State: { Status: string };
  Config: { Image: string; Labels: Record<string, string> | null };
  Mounts?: { Source?: string; Destination: string }[];
}

function container(found: Inspected): Container {
  return {
    id: found.Id,
    name: found.Name.replace(/^\//, ''),
    image: found.Config.Image,
    createdAt: Date.parse(found.Created),
    state: found.State.Status,
    labels: found.Config.Labels ?? {},
    mounts: (found.Mounts ?? []).map((mount) => ({ source: mount.Source ?? '', destination: mount.Destination })),
  };
}

function lines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}
