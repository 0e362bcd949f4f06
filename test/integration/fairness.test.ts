// Priority and fairness with clients we did not write: kubectl edits levels, curl sees the refusals, and a noisy process
// does not keep another tenant waiting.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Kubectl, kubectl } from '../harness/kubectl.ts';
import { unharmedServer } from '../harness/unharmed.ts';

const curl = promisify(execFile);
const scene = unharmedServer();
const MAPS = '/api/v1/namespaces/default/configmaps';
const STUDENT = { 'impersonate-user': 'student', 'impersonate-group': 'system:authenticated' };

/** Requests of one user, in a level of their own. */
const jail = (limited: string) => `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: jail}
spec: {type: Limited, limited: ${limited}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: jail}
spec:
  matchingPrecedence: 500
  priorityLevelConfiguration: {name: jail}
  distinguisherMethod: {type: ByUser}
  rules:
  - subjects: [{kind: User, user: {name: student}}]
    resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true}]
`;
const REJECT = '{nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: {type: Reject}}';

let run: Kubectl;
beforeAll(async () => {
  run = kubectl(await scene.server.kubeconfig('a'), join(scene.server.folder, 'kubectl'));
  const grant = 'create clusterrolebinding students --clusterrole=cluster-admin --user=student';
  expect((await run(grant)).code).toBe(0);
});

describe('priority levels', () => {
  it('without seats refuse, as kube-apiserver refuses, until they get some', async () => {
    const http = await scene.server.http('a');
    expect((await http.get(MAPS, { headers: STUDENT })).status).toBe(200);
    expect(await run('apply -f -', jail(REJECT))).toMatchObject({ code: 0 });
    const refused = await http.get(MAPS, { headers: STUDENT });
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.json).toMatchObject({
      kind: 'Status',
      reason: 'TooManyRequests',
      message: 'Too many requests, please try again later.',
      details: { retryAfterSeconds: 1 },
    });
    const uid = await run('get flowschema jail -o jsonpath={.metadata.uid}');
    expect(refused.headers['x-kubernetes-pf-flowschema-uid']).toBe(uid.out);
    const told = await run('get configmaps --as=student --as-group=system:authenticated');
    expect(told).toMatchObject({ code: 1, err: expect.stringContaining('TooManyRequests') });
    // Its administrator and other users are not in that level.
    expect((await http.get(MAPS)).status).toBe(200);
    const seats = `patch prioritylevelconfiguration jail --type=merge -p '{"spec":{"limited":{"nominalConcurrencyShares":10}}}'`;
    expect(await run(seats)).toMatchObject({ code: 0 });
    expect((await http.get(MAPS, { headers: STUDENT })).status).toBe(200);
    expect(await run('delete flowschema,prioritylevelconfiguration jail')).toMatchObject({ code: 0 });
  });
});

describe('requests without credentials', () => {
  it('are answered in turns and never take the seats of those who have some', async () => {
    const http = await scene.server.http('a');
    const flood = Array.from({ length: 400 }, () => http.get(MAPS, { token: 'wrong' }));
    const answers = await Promise.all(flood);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 401 && status !== 429)).toEqual([]);
    const { stdout } = await curl('curl', ['-s', '-k', `${scene.server.url}/livez`]);
    expect(stdout).toBe('ok');
  });
});
