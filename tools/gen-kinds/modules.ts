/** Where the published Go modules lie on this machine, and which group-versions we take from them. */
import { execFileSync } from 'node:child_process';

const KUBERNETES = 'v1.35.8';
const STAGING = 'v0.35.8';

function moduleDir(module: string, version: string): string {
  // Downloads through the module proxy when the cache does not have it yet.
  const answer = execFileSync('go', ['mod', 'download', '-json', `${module}@${version}`], { encoding: 'utf8' });
  return (JSON.parse(answer) as { Dir: string }).Dir;
}

const cache = new Map<string, string>();

export function kubernetes(): string {
  return lookup('k8s.io/kubernetes', KUBERNETES);
}

export function staging(name: string): string {
  return lookup(`k8s.io/${name}`, STAGING);
}

function lookup(module: string, version: string): string {
  let dir = cache.get(module);
  if (!dir) {
    dir = moduleDir(module, version);
    cache.set(module, dir);
  }
  return dir;
}

/** Only versions that carry a promise; alpha and beta ones are off in a default cluster anyway. */
export function isGa(version: string): boolean {
  return /^v\d+$/.test(version);
}

/** Packages with definitions and messages: dotted definition prefix → Go package folder. */
export function packageDir(prefix: string): string {
  const parts = prefix.split('.');
  // io.k8s.api.core.v1 → k8s.io/api + core/v1
  return `${staging(parts[2] as string)}/${parts.slice(3).join('/')}`;
}

/** Messages that no resource refers to but that travel as bodies. */
export const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
