/** The oracle's tests need Go, so they are not part of `make test`. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: { include: ['*.oracle.test.ts'], env: { ROOKERY_ORACLE: '1' }, fileParallelism: false },
});
