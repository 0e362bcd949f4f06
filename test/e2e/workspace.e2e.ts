import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../bed/process.ts';
import { kubernetesVersion } from '../bed/versions.ts';
import { type Engine, engine } from './support/engine.ts';

const name = 'bed-workspace';

describe('the workspace image', () => {
  let docker: Engine;
  beforeAll(async () => {
    docker = await engine('workspace-image');
    await docker.clear(name);
    await docker.docker('run', '-d', '--name', name, '-p', '127.0.0.1::7681', 'rookery-bed/workspace:1');
  });
  afterAll(async () => {
    await docker?.clear(name);
    await docker?.release();
  });

  test('serves a terminal to a browser', async () => {
    const port = (await docker.docker('port', name, '7681/tcp')).trim().split(':').at(-1);
    const page = await waitFor('ttyd', 20_000, async () => (await fetch(`http://127.0.0.1:${port}/`)).text());
    expect(page).toContain('<title>ttyd');
  });

  test('has what a student needs', async () => {
    expect(
      await docker.docker('exec', name, 'bash', '-lc', 'kubectl version --client && git --version && curl --version'),
    ).toContain(kubernetesVersion);
  });
});
