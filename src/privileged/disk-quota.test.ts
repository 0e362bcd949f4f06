import { expect, it } from 'vitest';
import type { Processes } from '../tools/processes.ts';
import { limitDisk } from './disk-quota.ts';

const scripted = (setquota: { code: number; stderr: string } | 'missing') => {
  const calls: string[] = [];
  const processes: Pick<Processes, 'run'> = {
    async run(program, args) {
      calls.push([program, ...args].join(' '));
      if (program === 'df') return { code: 0, stdout: 'Mounted on\n/data\n', stderr: '' };
      if (setquota === 'missing') throw new Error('no such program');
      return { stdout: '', ...setquota };
    },
  };
  return { calls, processes: processes as Processes };
};

it('limits what a user may write, or says why not', async () => {
  const works = scripted({ code: 0, stderr: '' });
  expect(await limitDisk(works.processes, '/data/home', 7, 2 ** 30 + 1)).toBeUndefined();
  expect(works.calls).toEqual(['df --output=target -- /data/home', 'setquota -u 7 0 1048577 0 0 /data']);
  const off = scripted({ code: 1, stderr: 'setquota: Cannot find mountpoint\nmore' });
  expect(await limitDisk(off.processes, '/data/home', 7, 1024)).toBe(
    '/data has no quotas for users: setquota: Cannot find mountpoint',
  );
  expect(await limitDisk(scripted('missing').processes, '/x', 7, 1)).toBe('setquota is not installed (package quota)');
});
