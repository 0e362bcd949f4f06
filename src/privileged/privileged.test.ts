import { expect, it } from 'vitest';
import { systemProcesses } from '../tools/processes.ts';
import { checkPrivileges } from './privilege-check.ts';
import { privilegesOf } from './privileged.ts';

const REASON = 'Rookery does not run as root';

it('without root does nothing that needs it, and says why', async () => {
  const privileged = privilegesOf(systemProcesses(), 1000);
  expect(privileged.refusal).toBe(REASON);
  expect(privileged.shellUser('ada')).toBeUndefined();
  expect(await privileged.limit('ada', { cpu: 1 })).toEqual({ groups: [], why: REASON });
  expect(await privileged.limitDisk('/', 'ada', 1024)).toBe(REASON);
  expect(() => privileged.machine()).toThrow(expect.objectContaining({ code: 'host.not-root' }));
  expect(checkPrivileges(privileged).detail).toMatch(/^an ordinary user, as recommended; only root has: limits of CPU/);
});

it('as root gives each workspace a user number of its own, the same each time', () => {
  const privileged = privilegesOf(systemProcesses(), 0);
  expect(privileged.refusal).toBeUndefined();
  const [ada, bob] = ['ada', 'bob'].map((id) => privileged.shellUser(id) as number);
  expect(ada).not.toBe(bob);
  expect(privilegesOf(systemProcesses(), 0).shellUser('ada')).toBe(ada);
  expect(ada).toBeGreaterThanOrEqual(1_900_000_000);
  expect(privileged.machine().identity).toBe('this machine');
});
