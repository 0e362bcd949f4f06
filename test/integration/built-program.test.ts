// The program as it is built: one script, its compiled form beside it, and the thread's module.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Script } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kubectl } from '../harness/kubectl.ts';
import { Rookery } from '../harness/rookery.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
let folder: string;
let compiled: string;

beforeAll(async () => {
  await run(process.execPath, [join(root, 'tools/build.mjs')]);
  folder = mkdtempSync(join(tmpdir(), 'rookery-built-'));
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const [name] = readdirSync(join(folder, 'dist')).filter((file) => file.endsWith('.compiled'));
  compiled = join(folder, 'dist', name as string);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const help = async () => (await run(process.execPath, [join(folder, 'dist/main.js'), '--help'])).stdout;

it('is compiled for this Node', () => {
  const source = readFileSync(compiled.replace(/compiled$/, 'cjs'), 'latin1');
  expect(new Script(source, { cachedData: readFileSync(compiled) }).cachedDataRejected).toBe(false);
});

it('loads what it needs later', async () => {
  const version = [join(folder, 'dist/main.js'), 'version', '-o', 'yaml'];
  expect(await run(process.execPath, version)).toEqual({ stdout: expect.stringContaining('rookery: '), stderr: '' });
});

it('starts with a compiled form of something else, and without one', async () => {
  const wanted = await help();
  expect(wanted).toContain('Usage: rookery');
  writeFileSync(compiled, 'of something else');
  expect(await help()).toBe(wanted);
  rmSync(compiled);
  expect(await help()).toBe(wanted);
});

it('finds the thread that does what takes long', async () => {
  const rookery = new Rookery();
  try {
    await rookery.run('up', '--detach', '--no-demo');
    const rules = (i: number) => [{ rule: `self.startsWith('a') && self.size() < ${i} && self.matches('^[a-z]+$')` }];
    const properties = Object.fromEntries(
      Array.from({ length: 2000 }, (_, i) => [
        `p${i}`,
        { type: 'string', maxLength: 10, 'x-kubernetes-validations': rules(i) },
      ]),
    );
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.dev' },
      spec: {
        group: 'example.dev',
        names: { plural: 'things', kind: 'Thing' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    };
    const ask = kubectl(join(rookery.home, 'kubeconfig'), join(rookery.home, 'kubectl'));
    const said = await ask('create -f -', JSON.stringify(crd));
    expect(said.all).toBe('customresourcedefinition.apiextensions.k8s.io/things.example.dev created');
  } finally {
    await rookery.close();
  }
});
