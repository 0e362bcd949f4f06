/** `rookery crds` */
import { readFileSync } from 'node:fs';
import type { KubeObject } from '../api/object.ts';
import { RookeryError } from '../errors.ts';
import type { GlobalOptions } from './connect.ts';

export async function printCrds(options: GlobalOptions, kinds: string[]): Promise<void> {
  const text = readFileSync(new URL('../api/generated/crds.json', import.meta.url), 'utf8');
  const { crds } = JSON.parse(text) as { crds: KubeObject[] };
  const wanted = kinds.map((kind) => kind.toLowerCase());
  const found = crds.filter((crd) => wanted.length === 0 || names(crd).some((name) => wanted.includes(name)));
  const unknown = wanted.find((kind) => !crds.some((crd) => names(crd).includes(kind)));
  if (unknown) {
    throw new RookeryError('crds.unknown', `there is no kind ${JSON.stringify(unknown)}`, {
      class: 'user',
      hint: `known kinds: ${crds.map((crd) => crd.spec.names.kind).join(', ')}`,
    });
  }
  if (options.output === 'json') {
    const list = { apiVersion: 'v1', kind: 'List', items: found };
    process.stdout.write(`${JSON.stringify(list, null, 2)}\n`);
    return;
  }
  const { stringify } = await import('yaml');
  const print = (crd: KubeObject) => stringify(crd, { aliasDuplicateObjects: false, lineWidth: 0 });
  process.stdout.write(found.map(print).join('---\n'));
}

function names(crd: KubeObject): string[] {
  const { kind, plural, singular, shortNames = [] } = crd.spec.names;
  return [kind, plural, singular, ...shortNames].map((name: string) => name.toLowerCase());
}
