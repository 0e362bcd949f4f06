import { expect, it } from 'vitest';
import { judge } from './checks.ts';

const said = (stdout: string, code = 0, stderr = '') => ({ code, stdout, stderr });

it('judges by exit code and by what was printed', async () => {
  const check = { name: 'web runs', run: 'kubectl get pods', stdout: ['web', '/^web-\\S+\\s+1\\/1/', '!Crash'] };
  expect(await judge(check, said('NAME READY\nweb-abc 1/1 Running\n'))).toEqual({ name: 'web runs', passed: true });
  expect(await judge(check, said('web-abc 0/1 CrashLoopBackOff'))).toMatchObject({ passed: false });
  expect((await judge(check, said('web-abc 1/1 Crash'))).message).toContain('must not contain Crash');
  expect(await judge({ ...check, hint: 'is kubectl there?' }, said('', 127, 'not found'))).toEqual({
    name: 'web runs',
    passed: false,
    message: 'ended with 127 instead of 0: not found\nis kubectl there?',
  });
  expect(await judge({ name: 'gone', run: 'kubectl get ns x', exitCode: 1 }, said('', 1))).toMatchObject({
    passed: true,
  });
});
