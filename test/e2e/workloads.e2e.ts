// Workspaces as containers on the bed: the suite that every workload passes.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { systemProcesses } from '../../src/tools/processes.ts';
import { DockerWorkload } from '../../src/workloads/docker/docker-workload.ts';
import { scratch } from '../bed/cache.ts';
import { workloadConformance } from '../conformance/workload/workload.ts';
import { engine } from './support/engine.ts';

workloadConformance('containers on the bed', async () => {
  const docker = await engine('workspace-image');
  const prefix = 'rookery-ws-conformance-';
  await docker.clear(prefix);
  const folder = join(scratch('workloads'), 'workspaces');
  return {
    open: () => new DockerWorkload({ processes: systemProcesses(docker.env), clock: systemClock, folder }),
    step: (id) => ({ id, image: 'rookery-bed/workspace:1' }),
    leftovers: async () => [...(await docker.found(prefix)), ...(existsSync(folder) ? readdirSync(folder) : [])],
    close: async () => {
      await docker.clear(prefix);
      await docker.release();
      rmSync(folder, { recursive: true, force: true });
    },
    limits: true,
  };
});
