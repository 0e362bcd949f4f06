import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findTool } from './find-tool.ts';
import { systemProcesses } from './processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'rookery-tools-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fake(place: string, version: string): string {
  mkdirSync(join(folder, place), { recursive: true });
  const path = join(folder, place, 'kind');
  writeFileSync(path, `#!/bin/sh\necho 'kind v${version} go1.27 linux/amd64'\n`);
  chmodSync(path, 0o755);
  return join(folder, place);
}

const search = (env: Record<string, string>) => findTool('kind', systemProcesses(env));

it('takes the first on PATH that is in range', async () => {
  const old = fake('old', '0.11.0');
  const good = fake('good', '0.33.0');
  expect(await search({ PATH: `${old}:${good}` })).toMatchObject({
    tool: { path: join(good, 'kind'), version: [0, 33, 0] },
  });
});

it('falls back to the offline folder', async () => {
  const tools = fake('offline', '0.32.0');
  expect(await search({ PATH: fake('old', '0.11.0'), ROOKERY_TOOLS: tools })).toMatchObject({
    tool: { path: join(tools, 'kind') },
  });
});

it('says what is wrong with what it found, and how to get the right one', async () => {
  expect(await search({ PATH: fake('old', '0.11.0') })).toMatchObject({
    why: expect.stringContaining('is v0.11.0, needed is >=0.29.0'),
    fix: expect.stringContaining('kind@v0.33.0'),
  });
  expect(await search({ PATH: '' })).toMatchObject({
    why: expect.stringContaining('neither on PATH nor in ROOKERY_TOOLS'),
  });
});
