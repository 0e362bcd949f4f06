/** A tool that makes clusters, used twice: by hand, and by Rookery. Both times with the same images and the same shape. */
import type { Engine } from '../../test/e2e/support/engine.ts';

export interface Contender {
  /** Of the provisioner. */
  name: string;
  /** Parts of the bed that hold its images. */
  images: string[];
  /** Arguments of `rookery cluster create` beside the name and the provisioner. */
  rookery: string[];
  /** What the tool needs in the environment, on both sides. */
  env?: Record<string, string>;
  /** Makes a cluster as its documentation says, and answers with the text of its kubeconfig. */
  make(name: string): Promise<string>;
  remove(name: string): Promise<void>;
  /** What a cluster needs to be called usable. */
  expects: { nodes: number };
  /** Resident memory of one cluster, MiB. */
  memoryMiB(name: string): Promise<number>;
  /** What both sides need before the first round: a host cluster, a machine. */
  prepare?(): Promise<void>;
  close(): Promise<void>;
}

/** Where it works: the bed's engine, and a folder of its own. */
export interface Bench {
  docker: Engine;
  folder: string;
}

/** Memory of the containers whose names begin so, as Docker counts it: without the page cache that can go at once. */
export async function containersMiB({ docker }: Bench, prefix: string): Promise<number> {
  const names = (await docker.docker('ps', '--format', '{{.Names}}')).split('\n').filter((n) => n.startsWith(prefix));
  if (names.length === 0) throw new Error(`no containers begin with ${prefix}`);
  const lines = await docker.docker('stats', '--no-stream', '--format', '{{.MemUsage}}', ...names);
  return lines
    .split('\n')
    .filter(Boolean)
    .reduce((sum, line) => sum + mebibytes(line.split('/')[0] ?? ''), 0);
}

const UNITS: Record<string, number> = { B: 2 ** -20, KiB: 2 ** -10, MiB: 1, GiB: 2 ** 10 };

function mebibytes(text: string): number {
  const [, amount = '', unit = ''] = /^\s*([\d.]+)([KMG]?i?B)/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (factor === undefined) throw new Error(`not an amount of memory: ${text}`);
  return Number(amount) * factor;
}
