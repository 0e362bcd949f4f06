/** Headers, limits and refusals that clients read, each as kube-apiserver 1.35 has it. */
import { beforeAll, describe, expect, it } from 'vitest';
import { configMap, expectStatus, MAPS, unharmedServer } from '../harness/unharmed.ts';

const scene = unharmedServer();
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GADGETS = '/apis/details.example/v1/namespaces/default/gadgets';

beforeAll(async () => {
  const versions = [
    { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
    {
      name: 'v1beta1',
      served: true,
      storage: false,
      deprecated: true,
      schema: { openAPIV3Schema: { type: 'object' } },
    },
  ];
  await scene.http.post(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.details.example' },
    spec: {
      group: 'details.example',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions,
    },
  });
  for (const end = Date.now() + 10_000; (await scene.http.get(GADGETS)).status !== 200 && Date.now() < end; );
  for (let i = 0; i < 5; i++) await scene.http.post(MAPS, configMap(`page-${i}`));
});

describe('headers', () => {
  it('name every request, by the client’s word if it has one', async () => {
    const first = (await scene.http.get(MAPS)).headers['audit-id'];
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    const second = await scene.http.get('/no/such/path');
    expect(second.headers['audit-id']).toMatch(/^[0-9a-f]{8}-/);
    expect(second.headers['audit-id']).not.toBe(first);
    const own = await scene.http.get(`${MAPS}/nothing`, { headers: { 'audit-id': 'mine' } });
    expect(own.headers['audit-id']).toBe('mine');
    expect((await scene.http.get('/healthz', { token: 'wrong' })).headers['audit-id']).toBeTruthy();
  });

  it('name the flow schema and priority level a request falls under', async () => {
    const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
    const named = async (kind: string, name: string) =>
      (await scene.http.get(`${flow}/${kind}/${name}`)).json.metadata.uid;
    const of = async (path: string, ask = {}) => {
      const { headers } = await scene.http.get(path, ask);
      return [headers['x-kubernetes-pf-flowschema-uid'], headers['x-kubernetes-pf-prioritylevel-uid']];
    };
    const exempt = [await named('flowschemas', 'exempt'), await named('prioritylevelconfigurations', 'exempt')];
    expect(await of(MAPS)).toEqual(exempt);
    const student = { headers: { 'impersonate-user': 'student', 'impersonate-group': 'students' } };
    const everyone = [
      await named('flowschemas', 'global-default'),
      await named('prioritylevelconfigurations', 'global-default'),
    ];
    // Refused requests were classified, too.
    expect(await of(MAPS, student)).toEqual(everyone);
    expect(await of('/livez', student)).toEqual([await named('flowschemas', 'probes'), exempt[1]]);
    const made = await scene.http.post(`${flow}/flowschemas`, {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: { name: 'students' },
      spec: {
        matchingPrecedence: 900,
        priorityLevelConfiguration: { name: 'workload-low' },
        rules: [
          {
            subjects: [{ kind: 'Group', group: { name: 'students' } }],
            resourceRules: [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'], namespaces: ['default'] }],
          },
        ],
      },
    });
    expect(made.status, made.text).toBe(201);
    const low = await named('prioritylevelconfigurations', 'workload-low');
    expect(await of(MAPS, student)).toEqual([made.json.metadata.uid, low]);
    expect(await of(`${MAPS}/keep`, student)).toEqual(everyone);
    expect(await of('/api/v1/configmaps', student)).toEqual(everyone);
    await scene.http.delete(`${flow}/flowschemas/students`);
    expect(await of(MAPS, student)).toEqual(everyone);
  });

  it('warn of deprecated versions and unknown fields', async () => {
    const old = await scene.http.get(GADGETS.replace('/v1/', '/v1beta1/'));
    expect(old.headers.warning).toBe('299 - "details.example/v1beta1 Gadget is deprecated"');
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"warned","x":1},"data":{"a":"1"},"größe":1}';
    const warned = await scene.http.post(`${MAPS}?dryRun=All`, body);
    expect(Buffer.from(warned.headers.warning as string, 'latin1').toString()).toBe(
      '299 - "unknown field \\"metadata.x\\"", 299 - "unknown field \\"größe\\""',
    );
    expect((await scene.http.post(`${MAPS}?dryRun=All&fieldValidation=Ignore`, body)).headers.warning).toBeUndefined();
  });
});

describe('deadlines', () => {
  it('are durations', async () => {
    expect((await scene.http.get(`${MAPS}?timeout=34s`)).status).toBe(200);
    expect((await scene.http.get(`${MAPS}?timeout=0`)).status).toBe(200);
    const bad = await scene.http.get(`${MAPS}?timeout=5`);
    expectStatus(bad, 400, 'BadRequest');
    expect(bad.json.message).toBe('invalid timeout specified in the request URL - time: missing unit in duration "5"');
    // It is nobody's business but ours who asks: the rest of the request is not looked at.
    expectStatus(await scene.http.get(`${MAPS}?timeout=x`, { token: 'wrong' }), 400);
    // A watch has another way to say it.
    expect((await scene.http.get(`${MAPS}?watch=1&timeout=x&timeoutSeconds=1`)).status).toBe(200);
  });

  it('are kept', async () => {
    const late = await scene.http.get(`${MAPS}?resourceVersion=999999999&timeout=100ms`);
    expectStatus(late, 504, 'Timeout');
    expect(late.json.message).toBe('Timeout: request did not complete within the allotted timeout');
  });
});

describe('versions of lists and watches', () => {
  const status = (message: string) => ({ code: 422, reason: 'Invalid', message: expect.stringContaining(message) });
  const MATCH = 'resourceVersionMatch';
  it.each([
    [`${MATCH}=Exact`, `${MATCH}: Forbidden: ${MATCH} is forbidden unless resourceVersion is provided`],
    [`${MATCH}=Exact&resourceVersion=0`, `Forbidden: ${MATCH} "exact" is forbidden for resourceVersion "0"`],
    [
      `${MATCH}=Newest&resourceVersion=1`,
      `${MATCH}: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""`,
    ],
    ['sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
    [
      'watch=1&sendInitialEvents=true',
      `${MATCH}: Forbidden: sendInitialEvents requires setting ${MATCH} to NotOlderThan`,
    ],
    [
      `watch=1&sendInitialEvents=true&${MATCH}=Exact`,
      `is invalid: [${MATCH}: Forbidden: sendInitialEvents requires setting ${MATCH} to NotOlderThan, ${MATCH}: Unsupported value: "Exact": supported values: "NotOlderThan"]`,
    ],
    [
      `watch=1&${MATCH}=NotOlderThan`,
      `${MATCH}: Forbidden: ${MATCH} is forbidden for watch unless sendInitialEvents is provided`,
    ],
  ])('%s', async (query, message) => {
    expect((await scene.http.get(`${MAPS}?${query}`)).json).toMatchObject(status(message));
  });

  it('of a list that make no sense are bad requests', async () => {
    const bad = async (query: string) => {
      const answer = await scene.http.get(`${MAPS}?${query}`);
      expectStatus(answer, 400, 'BadRequest');
      return answer.json.message;
    };
    expect(await bad('resourceVersion=x')).toBe(
      'invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    );
    const problem = 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax';
    for (const path of [`${MAPS}?watch=1&`, `${MAPS}/keep?`]) {
      const { kind, code, reason, message } = (await scene.http.get(`${path}resourceVersion=x`)).json;
      expect([kind, code, reason, message]).toEqual(['Status', 500, undefined, problem]);
    }
    expect(await bad('limit=many')).toBe('strconv.ParseInt: parsing "many": invalid syntax');
    const token = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url');
    const prefix = 'invalid continue token: continue key is not valid';
    expect(await bad('limit=1&continue=%21')).toBe(`${prefix}: illegal base64 data at input byte 0`);
    expect(await bad('continue=abc')).toBe(`${prefix}: invalid character 'i' looking for beginning of value`);
    expect(await bad(`continue=${token({ v: 'meta.k8s.io/v2', rv: 1, start: 'a' })}`)).toBe(
      `${prefix}: server does not recognize this encoded version meta.k8s.io/v2`,
    );
    expect(await bad(`continue=${token({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' })}`)).toBe(
      `${prefix}: incorrect encoded start resourceVersion (version meta.k8s.io/v1)`,
    );
    expect(await bad(`continue=${token({ v: 'meta.k8s.io/v1', rv: 1, start: '' })}`)).toBe(
      `${prefix}: encoded start key empty (version meta.k8s.io/v1)`,
    );
    const { metadata } = (await scene.http.get(`${MAPS}?limit=1`)).json;
    expect(await bad(`limit=1&continue=${metadata.continue}&resourceVersion=1`)).toBe(
      'specifying resource version is not allowed when using continue',
    );
  });

  it('that do not exist yet are waited for by lists, not by watches', async () => {
    const late = await scene.http.get(`${MAPS}?resourceVersion=999999999`);
    expectStatus(late, 504, 'Timeout');
    expect(late.headers['retry-after']).toBe('1');
    expect(late.json.message).toMatch(/^Timeout: Too large resource version: 999999999, current: \d+$/);
    expect(late.json.details).toEqual({
      retryAfterSeconds: 1,
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    });
    const before = Date.now();
    const watch = await scene.http.get(`${MAPS}?watch=1&resourceVersion=999999999&timeoutSeconds=1`);
    expect([watch.status, watch.text]).toEqual([200, '']);
    expect(Date.now() - before).toBeLessThan(2900);
  });

  it('“0” takes whatever there is, all of it', async () => {
    const { metadata, items } = (await scene.http.get(`${MAPS}?resourceVersion=0&limit=1`)).json;
    expect([metadata.continue, items.length > 1]).toEqual([undefined, true]);
  });

  it('of a watch from the current state end its beginning with a bookmark, if wanted', async () => {
    const { text } = await scene.http.get(`${MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1`);
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { items } = (await scene.http.get(MAPS)).json;
    expect(events[items.length]).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
  });

  it('of a watch for longer than a timer of Node lasts are sent for that long', async () => {
    const watch = await scene.http.watch(`${MAPS}?watch=1&timeoutSeconds=9000000&resourceVersionMatch=`);
    await scene.http.post(MAPS, configMap('late'));
    const seen = async () => {
      for await (const { object } of watch) if (object.metadata.name === 'late') return 'late';
      return 'ended';
    };
    expect(await seen()).toBe('late');
    watch.close();
    await scene.http.delete(`${MAPS}/late`);
    const beyond = await scene.http.get(`${MAPS}?watch=1&timeoutSeconds=${'9'.repeat(30)}`);
    expectStatus(beyond, 400, 'BadRequest', /value out of range/);
  });

  it('of one object by its path may not select another', async () => {
    const path = '/api/v1/watch/namespaces/default/configmaps/keep?timeoutSeconds=1&fieldSelector=metadata.name';
    expect((await scene.http.get(`${path}%3Dkeep`)).status).toBe(200);
    const other = await scene.http.get(`${path}%3Dother`);
    expectStatus(other, 400);
    expect(other.json.message).toBe("fieldSelector metadata.name doesn't match requested name");
  });
});

describe('what is not there', () => {
  it.each(['/nothing', '/apis/nothing', '/apis/no.such/v1', '/apis/no.such/v1/things'])(
    '%s is no page',
    async (path) => {
      const { status, headers, text } = await scene.http.get(path);
      expect([status, headers['content-type'], text]).toEqual([
        404,
        'text/plain; charset=utf-8',
        '404 page not found\n',
      ]);
    },
  );

  it.each([
    '/api/v2',
    '/api/v2/pods',
    '/api/v1/things',
    '/apis/apps/v1/things',
    '/apis/apps/v9/deployments',
    `${MAPS}/keep/status`,
  ])('%s is no resource', async (path) => {
    const answer = await scene.http.get(path);
    expectStatus(answer, 404, 'NotFound', /^the server could not find the requested resource$/);
    expect(answer.json.details).toEqual({});
  });

  it('below a custom resource is not found there', async () => {
    const answer = await scene.http.get(`${GADGETS}/a/status`);
    expectStatus(answer, 404, 'NotFound', /^gadgets.details.example "a" not found$/);
  });

  it('is not done with it', async () => {
    for (const [method, path] of [
      ['PUT', MAPS],
      ['POST', `${MAPS}/keep`],
      ['OPTIONS', MAPS],
    ] as const) {
      const answer = await scene.http.send(method, path);
      expectStatus(
        answer,
        405,
        'MethodNotAllowed',
        /^the server does not allow this method on the requested resource$/,
      );
    }
  });
});

describe('pod security', () => {
  it('is what the labels of a namespace say', async () => {
    const labels = {
      'pod-security.kubernetes.io/enforce': 'baseline',
      'pod-security.kubernetes.io/warn': 'restricted',
    };
    const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'guarded', labels } };
    expect((await scene.http.post('/api/v1/namespaces', space)).status).toBe(201);
    const pods = '/api/v1/namespaces/guarded/pods';
    const pod = (spec: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'x' }], ...spec },
    });
    const refused = await scene.http.post(pods, pod({ hostPID: true }));
    expectStatus(refused, 403, 'Forbidden');
    expect(refused.json.message).toBe(
      'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)',
    );
    const warned = await scene.http.post(pods, pod({}));
    expect(warned.status, warned.text).toBe(201);
    expect(warned.headers.warning).toMatch(/^299 - "would violate PodSecurity \\"restricted:latest\\": allowPrivilege/);
    const spaces = '/api/v1/namespaces/guarded';
    const stricter = await scene.http.patch(spaces, 'merge', {
      metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
    expect(stricter.headers.warning).toMatch(/existing pods in namespace \\"guarded\\" violate the new PodSecurity/);
    const wrong = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'x' } } };
    expectStatus(await scene.http.patch(spaces, 'merge', wrong), 422, 'Invalid');
  });
});

describe('tables', () => {
  it('are told apart from lists', async () => {
    const headers = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
    const bad = await scene.http.get(`${MAPS}?includeObject=x`, { headers });
    expectStatus(bad, 400);
    expect(bad.json.message).toBe(
      `Unable to convert to Table as requested: includeObject: Invalid value: "x": must be 'Metadata', 'Object', 'None', or empty`,
    );
    expect((await scene.http.get(`${MAPS}?includeObject=x`)).status).toBe(200);
  });
});
