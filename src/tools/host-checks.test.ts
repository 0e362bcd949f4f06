import { afterAll, expect, it } from 'vitest';
import { FakeWorld } from '../provisioners/kind/testing/fake-world.ts';
import { checkHost } from './host-checks.ts';
import { systemProcesses } from './processes.ts';

const world = new FakeWorld();
afterAll(() => world.close());
const checks = async (env: Record<string, string>) =>
  new Map((await checkHost(systemProcesses(env), world.folder)).map((check) => [check.name, check]));

it('finds what is here', async () => {
  const found = await checks(world.env);
  expect(found.get('kind')).toMatchObject({ state: 'ok', detail: expect.stringContaining('v0.33.0 at ') });
  expect(found.get('docker engine')).toMatchObject({ state: 'ok', detail: 'answers, version 26.1.5' });
  expect(found.get('images of kind')?.detail).toContain('kindest/node:v1.35.8');
  expect(found.get('disk')?.detail).toMatch(/GiB free/);
});

it('says what is missing, who needs it and the command that helps', async () => {
  const found = await checks({ PATH: '' });
  expect(found.get('kind')).toMatchObject({
    state: 'missing',
    neededBy: ['kind'],
    fix: expect.stringContaining('rookery tools install kind'),
  });
  expect(found.get('docker engine')).toMatchObject({
    state: 'missing',
    detail: expect.stringContaining('not on this machine'),
  });
  expect(found.has('images of kind')).toBe(false);
});

it('tells a Docker that is down from one that is not there', async () => {
  world.set('down', '');
  const found = await checks(world.env);
  expect(found.get('docker engine')).toMatchObject({
    state: 'missing',
    detail: expect.stringContaining('Docker does not answer'),
    fix: expect.stringContaining('systemctl start docker'),
  });
});
