// ValidatingAdmissionPolicy against the real server: who is refused, in which words, and what policies can see.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Http } from '../harness/http.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const GROUP = '/apis/admissionregistration.k8s.io/v1';
const POLICIES = `${GROUP}/validatingadmissionpolicies`;
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;
const MAPS_ONLY = {
  resourceRules: [
    { operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
  ],
};

let server: TestServer;
let http: Http;
const made: string[] = [];
let count = 0;

beforeAll(async () => {
  server = await startServer();
  http = await server.http();
});

afterAll(() => server.close());

afterEach(async () => {
  for (const path of made.splice(0).reverse()) await http.delete(path);
  expect(server.errors.splice(0)).toEqual([]);
});

async function create(path: string, body: { metadata: { name: string } }): Promise<Answer> {
  const answer = await http.post(path, body);
  if (answer.status === 201) made.push(`${path}/${body.metadata.name}`);
  return answer;
}

function policy(name: string, spec: object): Promise<Answer> {
  return create(POLICIES, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: MAPS_ONLY, ...spec },
  } as never);
}

function bind(policyName: string, spec: object = {}): Promise<Answer> {
  return create(BINDINGS, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: `${policyName}-binding` },
    spec: { policyName, validationActions: ['Deny'], ...spec },
  } as never);
}

const map = (data: Record<string, string>, name = `map-${++count}`, labels = {}) =>
  create(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data } as never);

describe('policies', () => {
  it('refuse in upstream’s words', async () => {
    expect((await policy('small', { validations: [{ expression: 'size(object.data) < 2' }] })).status).toBe(201);
    expect((await map({ a: '1', b: '2' })).status).toBe(201);
    expect((await bind('small')).status).toBe(201);
    expect((await map({ a: '1' })).status).toBe(201);
    const refused = await map({ a: '1', b: '2' }, 'large');
    const text =
      "ValidatingAdmissionPolicy 'small' with binding 'small-binding' denied request: failed expression: size(object.data) < 2";
    expect(refused).toMatchObject({
      status: 422,
      json: {
        reason: 'Invalid',
        code: 422,
        message: `configmaps "large" is forbidden: ${text}`,
        details: { name: 'large', kind: 'configmaps', causes: [{ message: text }] },
      },
    });
  });

  it('have variables, messages and reasons', async () => {
    await policy('counted', {
      variables: [
        { name: 'keys', expression: 'object.data.map(k, k)' },
        { name: 'count', expression: 'size(variables.keys)' },
      ],
      validations: [
        {
          expression: 'variables.count <= 1',
          messageExpression: "'has ' + string(variables.count) + ' keys in ' + namespaceObject.metadata.name",
          reason: 'Forbidden',
        },
      ],
    });
    await bind('counted');
    const refused = await map({ a: '1', b: '2' });
    expect(refused.status).toBe(403);
    expect(refused.json.message).toContain('denied request: has 2 keys in default');
  });

  it('fail as their failure policy says', async () => {
    const validations = [{ expression: "object.data.missing == 'x'" }];
    await policy('broken', { validations });
    await bind('broken');
    expect((await map({ a: '1' })).json.message).toContain(
      "denied request: expression 'object.data.missing == 'x'' resulted in error: no such key: missing",
    );
    await policy('lenient', {
      validations,
      failurePolicy: 'Ignore',
      matchConditions: [{ name: 'never', expression: "request.operation == 'CONNECT'" }],
    });
    await bind('lenient');
  });

  it('are spared by match conditions, names and selectors', async () => {
    await policy('picky', {
      validations: [{ expression: 'false' }],
      matchConditions: [{ name: 'only-bad', expression: "object.metadata.name.startsWith('bad')" }],
      matchConstraints: { ...MAPS_ONLY, objectSelector: { matchLabels: { judged: 'yes' } } },
    });
    await bind('picky');
    expect((await map({}, `good-${++count}`, { judged: 'yes' })).status).toBe(201);
    expect((await map({}, `bad-${++count}`)).status).toBe(201);
    expect((await map({}, `bad-${++count}`, { judged: 'yes' })).status).toBe(422);
  });

  it('take params by name and by selector', async () => {
    const params = await http.post(MAPS, {
      metadata: { name: 'limits', labels: { kind: 'limits' } },
      data: { max: '1' },
    });
    made.push(`${MAPS}/limits`);
    expect(params.status).toBe(201);
    await policy('limited', {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [
        { expression: "!has(object.data) || 'max' in object.data || size(object.data) <= int(params.data.max)" },
      ],
    });
    const byName = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
    await bind('limited', { paramRef: byName });
    expect((await map({ a: '1' })).status).toBe(201);
    expect((await map({ a: '1', b: '2' })).status).toBe(422);
    const selected = { spec: { paramRef: { name: null, selector: { matchLabels: { kind: 'none' } } } } };
    const change = await http.patch(`${BINDINGS}/limited-binding`, 'merge', selected);
    expect(change.status).toBe(200);
    expect((await map({ a: '1' })).json.message).toContain(
      'denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    );
  });

  it('warn where they are told to', async () => {
    await policy('gentle', { validations: [{ expression: 'false', message: 'not so nice' }] });
    await bind('gentle', { validationActions: ['Warn', 'Audit'] });
    const answer = await map({ a: '1' });
    expect(answer.status).toBe(201);
    expect(answer.headers.warning).toContain(
      "Validation failed for ValidatingAdmissionPolicy 'gentle' with binding 'gentle-binding': not so nice",
    );
  });

  it('ask what the writer may do', async () => {
    const allowed = "authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()";
    await policy('asking', {
      validations: [{ expression: `${allowed} && authorizer.requestResource.check('create').allowed()` }],
    });
    await bind('asking');
    expect((await map({ a: '1' })).status).toBe(201);
  });

  it('are checked when they are written', async () => {
    const refused = await policy('wrong', { validations: [{ expression: 'object.' }, { expression: '1' }] });
    expect(refused.status).toBe(422);
    expect(refused.json.message).toContain(
      'spec.validations[0].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error',
    );
    expect(refused.json.message).toContain(
      'spec.validations[1].expression: Invalid value: "1": must evaluate to bool but got int',
    );
  });

  it('learn in their status what types say against them', async () => {
    await policy('typed', {
      validations: [{ expression: "object.spec.replicas > 'x'" }],
      matchConstraints: {
        resourceRules: [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }],
      },
    });
    await expect
      .poll(async () => (await http.get(`${POLICIES}/typed`)).json.status?.typeChecking?.expressionWarnings?.[0], {
        timeout: 20_000,
      })
      .toMatchObject({
        fieldRef: 'spec.validations[0].expression',
        warning: expect.stringContaining(
          "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'",
        ),
      });
    expect((await http.get(`${POLICIES}/typed`)).json.status.observedGeneration).toBe(1);
  });
});
