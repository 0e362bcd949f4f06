// Writes what is derived from the schemas in src/api: the CRDs as data (so that starting loads no schema library) and
// the reference pages. `--check` changes nothing and fails when something is out of date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crdOf } from '../src/api/crd.ts';
import { kinds } from '../src/api/kinds.ts';
import { referenceIndex, referencePage } from './reference-page.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

export function generated(): Map<string, string> {
  const crds = kinds.map(crdOf);
  const files = new Map([['src/api/generated/crds.json', `${JSON.stringify({ crds }, null, 1)}\n`]]);
  for (const kind of kinds) files.set(`docs/reference/${kind.kind.toLowerCase()}.md`, referencePage(kind));
  files.set('docs/reference/README.md', referenceIndex(kinds));
  return files;
}

function main(check: boolean): void {
  const stale: string[] = [];
  for (const [file, content] of generated()) {
    const path = join(root, file);
    if (read(path) === content) continue;
    stale.push(file);
    if (check) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  if (check && stale.length > 0) {
    console.error(`out of date, run \`make generate\`: ${stale.join(', ')}`);
    process.exit(1);
  }
  console.log(check ? 'up to date' : `wrote ${stale.length} file(s)`);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes('--check'));
