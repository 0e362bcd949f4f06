// The map of DESIGN 2 as a test: the folder a thing lives in says what it may know, and imports only point down.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = join(root, 'src');

/** From top to bottom: each may import what stands below it. */
const ORDER = [
  'launch.ts',
  'main.ts',
  'cli',
  'http',
  // The second home: controllers against any Kubernetes API.
  'manager',
  // The control plane in one process: puts API server, controllers and vault together.
  'embedded',
  // Why something is as it is, for every client.
  'diagnosis',
  'controllers',
  // From one cluster to another.
  'promotion',
  'provisioners',
  'workloads',
  // What needs root.
  'privileged',
  'machines',
  'workshop',
  'tools',
  'jobs',
  'vault',
  'apiserver',
  'kube',
  'x509',
  'network',
  'telemetry',
  'api',
  'errors.ts',
  'config.ts',
  'clock.ts',
];

/** Folders that may import less than everything below them. */
const ONLY: Record<string, string[]> = {
  apiserver: ['api', 'telemetry', 'x509', 'network', 'errors.ts', 'clock.ts'],
  kube: ['api', 'telemetry', 'network', 'errors.ts', 'clock.ts'],
  telemetry: ['errors.ts', 'clock.ts'],
  network: ['errors.ts', 'clock.ts'],
  x509: [],
  api: [],
  'errors.ts': [],
  'clock.ts': [],
  'config.ts': ['errors.ts'],
};

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8');
  const found = text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return [...found].map(([, path]) => relative(source, resolve(dirname(join(source, file)), path as string)));
}

/** A file that is in no folder stands for itself; its test is beside it. */
const folderOf = (path: string) => (path.split('/', 1)[0] as string).replace(/\.test\.ts$/, '.ts');

it('knows every folder of src', () => {
  expect([...new Set(files.map(folderOf))].filter((folder) => !ORDER.includes(folder))).toEqual([]);
});

it('imports only point down the map', () => {
  const wrong: string[] = [];
  let seen = 0;
  for (const file of files) {
    const from = folderOf(file);
    for (const target of importsOf(file)) {
      seen++;
      const to = folderOf(target);
      // Generated tables and package.json are data, tests may use what is beside them.
      if (to === from || target.startsWith('..') || file.endsWith('.test.ts')) continue;
      const allowed = ONLY[from] ?? ORDER.slice(ORDER.indexOf(from) + 1);
      if (!allowed.includes(to)) wrong.push(`${file} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
  // A check that reads nothing proves nothing.
  expect(seen).toBeGreaterThan(300);
});

it('loads no schema library at run time: only types of the kinds are imported outside src/api', () => {
  const schemas = /^api\/((workshop|capi|infrastructure|rookery)\/|kinds?\.ts|crd\.ts|fields\.ts|index\.ts)/;
  const wrong = files.filter((file) => {
    if (folderOf(file) === 'api' || file.endsWith('.test.ts')) return false;
    const text = readFileSync(join(source, file), 'utf8').replace(/^import type .*$/gm, '');
    const found = [...text.matchAll(/from '(\.{1,2}\/[^']+)'/g)].map(([, path]) => path as string);
    return found.some((path) => schemas.test(relative(source, resolve(dirname(join(source, file)), path))));
  });
  expect(wrong).toEqual([]);
});

it('keeps files small enough to read in one sitting', () => {
  const code = files.filter((file) => !file.includes('/testdata/'));
  const long = code.filter((file) => readFileSync(join(source, file), 'utf8').split('\n').length > 500);
  expect(long).toEqual([]);
});
