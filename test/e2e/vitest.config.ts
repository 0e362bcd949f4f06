// Suites share one engine and two cores: one at a time, each test with minutes rather than seconds.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: [`**/${process.env.E2E_SUITE ?? '*'}.e2e.ts`],
    fileParallelism: false,
    globalSetup: ['support/build.ts'],
    setupFiles: ['support/end-with-parent.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // A later test of a suite works on what an earlier one made: after a failure the rest says nothing new.
    bail: 1,
  },
});
