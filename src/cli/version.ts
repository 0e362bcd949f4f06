/** `rookery version` */
import { readFileSync } from 'node:fs';
import { VERSION } from '../apiserver/version.ts';
import type { GlobalOptions } from './connect.ts';
import { print } from './output.ts';

export function rookeryVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

export async function printVersion(options: GlobalOptions): Promise<void> {
  const versions = { rookery: rookeryVersion(), kubernetesApi: VERSION.gitVersion, node: process.versions.node };
  await print(
    options.output,
    versions,
    (v) => `rookery ${v.rookery}\nKubernetes API ${v.kubernetesApi}\nNode ${v.node}\n`,
  );
}
