import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemProcesses } from '../../../src/tools/processes.ts';
import { ProcessWorkload } from '../../../src/workloads/process/process-workload.ts';
import { workloadConformance } from './workload.ts';

workloadConformance('shells on this machine', async () => {
  const home = mkdtempSync(join(tmpdir(), 'workspaces-'));
  const folder = join(home, 'workspaces');
  return {
    open: () => new ProcessWorkload({ processes: systemProcesses(), folder, hidden: [home] }),
    step: (id) => ({ id }),
    leftovers: async () => {
      try {
        return readdirSync(folder);
      } catch {
        return [];
      }
    },
    close: async () => rmSync(home, { recursive: true, force: true }),
    limits: process.getuid?.() === 0,
  };
});
