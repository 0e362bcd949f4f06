/** A tool that makes clusters, used twice: by hand, and by Rookery. Both times with the same images and the same shape. */
import type { HealthExpectation } from '../../src/provisioners/cluster-health.ts';
import type { Engine } from '../../test/e2e/support/engine.ts';
import type { Product } from './product.ts';

export interface Contender {
  /** Of the provisioner. */
  name: string;
  /** Parts of the bed that hold its images. */
  images: string[];
  /** What the tool needs in the environment, on both sides. */
  env?: Record<string, string>;
  /** What both sides need before the first round, such as a host cluster. */
  prepare?(product: Product): Promise<void>;
  /** What one cluster needs before the clock starts, on both sides, such as a machine; and the end of that. */
  before?(name: string): Promise<void>;
  after?(name: string): Promise<void>;
  /** Asks Rookery for a cluster, as people do, and comes back when Rookery calls it ready. */
  ask(product: Product, name: string): Promise<unknown>;
  /** Makes a cluster as the tool's documentation says, and answers with the text of its kubeconfig. */
  make(name: string): Promise<string>;
  /** Removes what `make` made. */
  remove(name: string): Promise<unknown>;
  /** What a cluster needs to be called usable. */
  expects: HealthExpectation;
  /** Resident memory of one cluster, MiB. */
  memoryMiB(name: string): Promise<number>;
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
