// Tools replace the kubeconfig they are given by renaming a new file over it. Run by root with KUBECONFIG=/dev/null, k3d took that
// device from the whole machine.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = ['src', 'test', 'bench', 'tools'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|mjs|sh)$/.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file)),
);

it('no program is given a device as its kubeconfig', () => {
  const text = (file: string) => readFileSync(join(root, file), 'utf8');
  const wrong = files.filter((file) => /KUBECONFIG['"]?\s*[:=]\s*['"]?\/dev\//.test(text(file)));
  expect(wrong).toEqual(['test/repository/devices.test.ts']);
});
