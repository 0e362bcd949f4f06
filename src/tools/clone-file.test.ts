import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { cloneFiles } from './clone-file.ts';
import { type Processes, systemProcesses } from './processes.ts';

it('clones, or says that it cannot and is not asked twice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  writeFileSync(from, 'text');
  const system = systemProcesses();
  const run = vi.fn<Processes['run']>(system.run);
  const clone = cloneFiles({ ...system, run });
  const isCloned = await clone(from, to);
  if (isCloned) expect(readFileSync(to, 'utf8')).toBe('text');
  expect(await clone(join(folder, 'missing'), to)).toBe(false);
  expect(await clone(from, to)).toBe(false);
  expect(run).toHaveBeenCalledTimes(isCloned ? 2 : 1);
  rmSync(folder, { recursive: true });
});
