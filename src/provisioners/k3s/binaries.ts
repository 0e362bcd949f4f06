/**
 * Which k3s is used. Programs are looked for here (the path in the spec, PATH, the offline folder ROOKERY_TOOLS) and on the host; each says its
 * version itself and is known by its SHA-256 from then on. Nothing is fetched. A minor means the newest one found, an exact version only itself.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RookeryError } from '../../errors.ts';
import type { Host } from '../../machines/host.ts';
import type { HostFolders } from '../../machines/host-folders.ts';
import type { Processes } from '../../tools/processes.ts';
import { compareVersions, exactVersion, matches, parseWanted } from '../../tools/versions.ts';

export interface K3sBinary {
  where: 'here' | 'host';
  path: string;
  /** As it says itself: `v1.35.0+k3s1`. */
  version: string;
  sha256: string;
  size: number;
}

/** It calls itself by the name of its file. */
const SAYS_VERSION = /^\S+ version (v\d\S*\+k3s\S*)/m;
/** `k3s`, `k3s-arm64`, `k3s-v1.35.0+k3s1`: what people call it when they keep several. */
const NAMES = /^k3s([-_].*)?$/;
const FIND_ON_HOST = `for file in "$1" "$(command -v k3s)" /usr/local/bin/k3s; do
  [ -n "$file" ] && [ -f "$file" ] || continue
  version=$("$file" --version 2>/dev/null | sed -n 's/^[^ ]* version \\(v[^ ]*+k3s[^ ]*\\).*/\\1/p')
  [ -z "$version" ] || echo "$(sha256sum <"$file" | cut -d ' ' -f 1) $(wc -c <"$file") $version $file"
done`;

export class K3sBinaries {
  readonly #processes: Processes;
  readonly #folders: HostFolders;
  readonly #known = new Map<string, K3sBinary | undefined>();

  constructor(processes: Processes, folders: HostFolders) {
    this.#processes = processes;
    this.#folders = folders;
  }

  /** On this machine. With a path, only that one, and only where it may be used: asking for its version runs it. */
  async here(path: string | undefined, signal?: AbortSignal): Promise<K3sBinary[]> {
    if (path && !(await this.#folders.allows(path))) return [];
    const found: K3sBinary[] = [];
    for (const file of path ? [path] : await this.#candidates()) {
      const binary = await this.#ask(file, signal);
      if (binary && !found.some(({ sha256 }) => sha256 === binary.sha256)) found.push(binary);
    }
    return found;
  }

  async onHost(host: Host, path: string | undefined, signal?: AbortSignal): Promise<K3sBinary[]> {
    const { stdout } = await host.run(FIND_ON_HOST, { args: [path ?? ''], signal });
    return stdout.split('\n').flatMap((line) => {
      const [, sha256 = '', size, version = '', file = ''] = /^(\w{64}) +(\d+) (\S+) (.+)$/.exec(line) ?? [];
      if (!sha256 || (path && file !== path)) return [];
      return [{ where: 'host' as const, path: file, version, sha256, size: Number(size) }];
    });
  }

  async #candidates(): Promise<string[]> {
    const { PATH = '', ROOKERY_TOOLS = '' } = this.#processes.env;
    const files = PATH.split(delimiter)
      .filter(Boolean)
      .map((folder) => join(folder, 'k3s'));
    if (ROOKERY_TOOLS) {
      const names = await readdir(ROOKERY_TOOLS).catch(() => []);
      files.push(...names.filter((name) => NAMES.test(name)).map((name) => join(ROOKERY_TOOLS, name)));
    }
    return files;
  }

  async #ask(path: string, signal?: AbortSignal): Promise<K3sBinary | undefined> {
    const file = await stat(path).catch(() => undefined);
    if (!file?.isFile()) return undefined;
    const key = `${path} ${file.size} ${file.mtimeMs} ${file.ino}`;
    if (!this.#known.has(key)) {
      const answer = await this.#processes
        .run(path, ['--version'], { signal, timeoutMs: 20_000 })
        .catch(() => undefined);
      const version = SAYS_VERSION.exec(answer?.stdout ?? '')?.[1];
      this.#known.set(
        key,
        version ? { where: 'here', path, version, sha256: await sha256Of(path), size: file.size } : undefined,
      );
    }
    return this.#known.get(key);
  }
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

/** Of several with one version the one that is nearest: those given first. */
export function chooseBinary(found: readonly K3sBinary[], wanted: string | undefined): K3sBinary {
  const exact = found.find(({ version }) => version === wanted);
  const fitting = exact ? [exact] : found.filter((binary) => !wanted || fits(binary, wanted));
  const [best] = fitting.sort((a, b) => compareVersions(numberOf(b), numberOf(a)));
  if (best) return best;
  const versions = [...new Set(found.map(({ version }) => version))];
  throw new RookeryError(
    'version.unavailable',
    wanted ? `there is no k3s of Kubernetes ${wanted}` : 'there is no k3s, neither here nor on the host',
    {
      class: 'user',
      hint: versions.length
        ? `choose one of ${versions.join(', ')}, or put another into ROOKERY_TOOLS`
        : 'put the released program, called k3s, on PATH or into the folder ROOKERY_TOOLS, or name it in `binary`',
    },
  );
}

function fits(binary: K3sBinary, wanted: string): boolean {
  const number = exactVersion(binary.version);
  return number !== undefined && matches(number, parseWanted(wanted));
}

function numberOf({ version }: K3sBinary) {
  return exactVersion(version) ?? ([0, 0, 0] as const);
}
