// What is derived from the schemas is committed; this fails when someone changes a schema and forgets `make generate`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { generated } from '../../tools/gen-api.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

it.each([...generated()])('%s is up to date', (file, content) => {
  expect(readFileSync(join(root, file), 'utf8') === content, 'run `make generate`').toBe(true);
});
