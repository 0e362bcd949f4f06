/** What tools print, read for people: their last lines, and what their failures mean. */

export interface Meaning {
  /** CamelCase, for programs. */
  reason: string;
  means: string;
  help: string;
}

export interface KnownFailure extends Meaning {
  says: RegExp;
}

/** What any tool passes on when the engine or the machine fails it. */
const ENGINE_FAILURES: KnownFailure[] = [
  {
    reason: 'PortTaken',
    says: /port is already allocated|address already in use/i,
    means: 'a port of the host that the cluster asks for is taken',
    help: 'free the port, or choose another one (0 means any free one)',
  },
  {
    reason: 'ImageUnavailable',
    says: /failed to pull (the )?image|pull access denied|manifest unknown|not found: manifest|no such image/i,
    means: 'an image is not on this machine and could not be fetched',
    help: 'fetch or load it (docker pull, docker load), or choose another version',
  },
  {
    reason: 'NetworkPoolExhausted',
    says: /non-overlapping IPv4 address pool|failed to ensure docker network/i,
    means: 'Docker could not make the network: all its address ranges are in use',
    help: 'remove networks nobody uses: docker network prune',
  },
  {
    reason: 'DiskFull',
    says: /no space left on device/i,
    means: 'the disk is full',
    help: 'free some space: docker system df, docker system prune',
  },
  {
    reason: 'DockerUnreachable',
    says: /cannot connect to the docker daemon|error during connect/i,
    means: 'Docker went away',
    help: 'start Docker again',
  },
];

/** The first failure that the output speaks of, the tool's own before the engine's. */
export function knownFailure(output: string, ofTool: readonly KnownFailure[]): Meaning | undefined {
  return [...ofTool, ...ENGINE_FAILURES].find(({ says }) => says.test(output));
}

export function lastLines(output: string, count = 8): string[] {
  return output
    .split('\n')
    .map((line) => line.trimEnd())
    .filter(Boolean)
    .slice(-count);
}
