// Priority and fairness with clients we did not write: kubectl edits levels, curl sees the refusals, and a noisy process
// does not keep another tenant waiting.
import { execFile, fork } from 'node:child_process';
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

describe('flow schemas', () => {
  it('say whether their level exists', async () => {
    const missing = async (name: string) => {
      const path = `get flowschema ${name} -o jsonpath={.status.conditions[?(@.type=="Dangling")].status}`;
      return (await run(path)).out;
    };
    const become = async (name: string, wanted: string) => {
      await expect.poll(() => missing(name), { timeout: 20_000 }).toBe(wanted);
    };
    const table = await run('get flowschemas,prioritylevelconfigurations');
    expect(table.out).toMatch(/flowschema\S*\/global-default\s+global-default\s+9900\s+ByUser\s+\S+\s+False/);
    expect(table.out).toMatch(/prioritylevelconfiguration\S*\/workload-low\s+Limited\s+100\s+128\s+6\s+50/);
    await run('apply -f -', jail(REJECT));
    await become('jail', 'False');
    await run('delete prioritylevelconfiguration jail');
    await become('jail', 'True');
    // A request falls under one whose level exists.
    const http = await scene.server.http('a');
    expect((await http.get(MAPS, { headers: STUDENT })).status).toBe(200);
    await run('delete flowschema jail');
  });
});

describe('what runs and waits', () => {
  it('is shown to administrators, for their own cluster', async () => {
    const dump = '/debug/api_priority_and_fairness/dump_priority_levels';
    const http = await scene.server.http('a');
    await http.get(MAPS, { headers: STUDENT });
    const { out } = await run(`get --raw ${dump}`);
    const [head = '', ...lines] = out.trimEnd().split('\n');
    expect(head.split(/,\s+/)).toEqual([
      'PriorityLevelName',
      'ActiveQueues',
      'IsIdle',
      'IsQuiescing',
      'WaitingRequests',
      'ExecutingRequests',
      'DispatchedRequests',
      'RejectedRequests',
      'TimedoutRequests',
      'CancelledRequests',
    ]);
    expect(lines.map((line) => line.split(',')[0])).toEqual([
      'catch-all',
      'exempt',
      'global-default',
      'leader-election',
      'node-high',
      'system',
      'workload-high',
      'workload-low',
    ]);
    const used = lines.find((line) => line.startsWith('global-default'))?.split(/,\s+/) ?? [];
    expect(Number(used[6])).toBeGreaterThan(0);
    // The request for this page is the one that runs.
    expect(lines.find((line) => line.startsWith('exempt'))?.split(/,\s+/)[5]).toBe('1');
    const nobody = { 'impersonate-user': 'nobody', 'impersonate-group': 'system:authenticated' };
    expect((await http.get(dump, { headers: nobody })).status).toBe(403);
  });

  it('is in the metrics of the root cluster, for all clusters', async () => {
    const { text } = await (await scene.server.http()).get('/metrics');
    const labels = '{cluster="a",priority_level="exempt"}';
    expect(text).toMatch(new RegExp(`^apiserver_flowcontrol_dispatched_requests_total${labels} [1-9]`, 'm'));
    expect(text).toContain(`apiserver_flowcontrol_current_inqueue_requests${labels} 0`);
    expect(text).toContain(`apiserver_flowcontrol_current_executing_seats${labels} 0`);
    expect((await (await scene.server.http('a')).get('/metrics')).text).toBe('');
  });
});

describe('a noisy tenant', () => {
  const FLOOD = 800;

  it.each(['gets', 'writes', 'lists'])(
    'that floods the server with %s does not make another one wait for all of it',
    async (what) => {
      const { server } = scene;
      const { credentials } = await server.clusters.ensure('noisy');
      const args = [server.url, '/clusters/noisy', credentials.adminToken, what, '8', `${FLOOD}`];
      const child = fork(join(import.meta.dirname, '../../bench/noisy.child.mjs'), args);
      try {
        const quiet = await server.http('quiet');
        const root = await server.http();
        const state = async () => {
          const { text } = await root.get('/metrics');
          const of = (metric: string) =>
            Number(
              new RegExp(
                `^apiserver_flowcontrol_${metric}\\{cluster="noisy",priority_level="exempt"} (\\d+)$`,
                'm',
              ).exec(text)?.[1] ?? 0,
            );
          return { waiting: of('current_inqueue_requests'), dispatched: of('dispatched_requests_total') };
        };
        await expect.poll(async () => (await state()).waiting, { timeout: 30_000 }).toBeGreaterThan(FLOOD / 2);
        const between: number[] = [];
        for (let i = 0; i < 15; i++) {
          const before = await state();
          expect((await quiet.get(MAPS)).status).toBe(200);
          between.push((await state()).dispatched - before.dispatched);
        }
        // All that waits, at the least, were it first come, first served. What two looks at the metrics take is in it.
        between.sort((a, b) => a - b);
        expect(between[7]).toBeLessThan(FLOOD / 4);
        expect((await quiet.post(MAPS, { metadata: { name: `beside-${what}` } })).status).toBe(201);
      } finally {
        child.kill('SIGKILL');
      }
      // What its clients no longer wait for does not wait any more either.
      const dump = async () =>
        (await server.http('noisy')).get('/debug/api_priority_and_fairness/dump_priority_levels');
      const exempt = async () =>
        (await dump()).text
          .split('\n')
          .find((line) => line.startsWith('exempt'))
          ?.split(/,\s+/);
      await expect.poll(async () => (await exempt())?.slice(4, 6), { timeout: 20_000 }).toEqual(['0', '1']);
    },
  );
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
