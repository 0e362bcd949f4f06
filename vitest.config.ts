import { defineConfig } from 'vitest/config';

// Unit tests sit beside the code; what crosses processes is in test/. The real bed's suites (test/e2e) and the Go
// oracle (test/oracle) have configurations of their own: they need more than `make test` installs.
export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most of them wait for processes, disks and clocks.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/{bed,integration,crash,conformance,repository}/**/*.test.ts'],
          testTimeout: 120_000,
        },
      },
    ],
  },
});
