// What is wrong with a webhook configuration, in the words of the real server.
import { expect, it } from 'vitest';
import { validateWebhooks } from './webhook-validation.ts';

const GOOD = {
  name: 'hook.example.com',
  rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }],
  clientConfig: { url: 'https://hook.example.com/path' },
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  sideEffects: 'None',
  timeoutSeconds: 10,
  admissionReviewVersions: ['v1'],
};

const problems = (webhooks: object[], old?: object) =>
  validateWebhooks({ webhooks }, true, old).map(({ field, message }) => `${field}: ${message}`);
const rule = (change: object) => ({ rules: [{ ...GOOD.rules[0], ...change }] });
const service = (change: object) => ({
  clientConfig: { service: { name: 'a', namespace: 'b', port: 443, ...change } },
});
const many = Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: 'true' }));

it('a good one passes', () => {
  expect(problems([GOOD])).toEqual([]);
  expect(problems([{ ...GOOD, ...service({ path: '/a/b-c/' }) }])).toEqual([]);
  expect(problems([{ ...GOOD, ...rule({ resources: ['pods', 'pods/status', '*/scale'] }) }])).toEqual([]);
});

it.each<[object, string]>([
  [{ name: '' }, 'name: Required value'],
  [{ name: 'a.b' }, 'name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
  [rule({ operations: [] }), 'rules[0].operations: Required value'],
  [
    rule({ operations: ['*', 'CREATE'] }),
    'rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations',
  ],
  [
    rule({ operations: ['WATCH'] }),
    'rules[0].operations[0]: Unsupported value: "WATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
  ],
  [rule({ apiVersions: [''] }), 'rules[0].apiVersions[0]: Required value'],
  [rule({ resources: ['pods', ''] }), 'rules[0].resources[1]: Required value'],
  [
    rule({ resources: ['*', 'pods'] }),
    'rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources without subresources',
  ],
  [
    rule({ resources: ['*/*', 'pods'] }),
    'rules[0].resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources',
  ],
  [
    rule({ resources: ['pods/*', 'pods/status'] }),
    'rules[0].resources[1]: Invalid value: "pods/status": if \'pods/*\' is present, must not specify pods/status',
  ],
  [
    rule({ resources: ['*/status', 'pods/status'] }),
    'rules[0].resources[1]: Invalid value: "pods/status": if \'*/status\' is present, must not specify pods/status',
  ],
  [
    rule({ scope: 'World' }),
    'rules[0].scope: Unsupported value: "World": supported values: "*", "Cluster", "Namespaced"',
  ],
  [{ failurePolicy: 'X' }, 'failurePolicy: Unsupported value: "X": supported values: "Fail", "Ignore"'],
  [{ matchPolicy: 'X' }, 'matchPolicy: Unsupported value: "X": supported values: "Equivalent", "Exact"'],
  [{ sideEffects: undefined }, 'sideEffects: Required value: must specify one of None, NoneOnDryRun'],
  [{ sideEffects: 'Some' }, 'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
  [{ timeoutSeconds: 31 }, 'timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
  [{ timeoutSeconds: 0 }, 'timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds'],
  [{ reinvocationPolicy: 'X' }, 'reinvocationPolicy: Unsupported value: "X": supported values: "IfNeeded", "Never"'],
  [{ clientConfig: {} }, 'clientConfig: Required value: exactly one of url or service is required'],
  [
    { clientConfig: { url: 'http://a/b' } },
    'clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
  ],
  [
    { clientConfig: { url: 'https:///b' } },
    'clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]',
  ],
  [
    { clientConfig: { url: 'https://me@a/b' } },
    'clientConfig.url: Invalid value: "me": user information is not permitted in the URL',
  ],
  [
    { clientConfig: { url: 'https://a/b#c' } },
    'clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
  ],
  [
    { clientConfig: { url: 'https://a/b?c' } },
    'clientConfig.url: Invalid value: "c": query parameters are not permitted in the URL',
  ],
  [
    { clientConfig: { url: 'https://a:b/' } },
    'clientConfig.url: Required value: url must be a valid URL: parse "https://a:b/": invalid port ":b" after host; desired format: https://host[/path]',
  ],
  [service({ name: '' }), 'clientConfig.service.name: Required value'],
  [service({ namespace: '' }), 'clientConfig.service.namespace: Required value'],
  [
    service({ port: 0 }),
    'clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
  ],
  [service({ path: 'xy' }), 'clientConfig.service.path: Invalid value: "xy": must start with a \'/\''],
  [service({ path: '/a//b' }), 'clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty'],
  [{ matchConditions: many }, 'matchConditions: Too many: 65: must have at most 64 items'],
  [{ matchConditions: [{ name: 'a', expression: ' ' }] }, 'matchConditions[0].expression: Required value'],
  [{ matchConditions: [{ expression: 'true' }] }, 'matchConditions[0].name: Required value'],
  [
    {
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'true' },
      ],
    },
    'matchConditions[1].name: Duplicate value: "a"',
  ],
  [{ admissionReviewVersions: [] }, 'admissionReviewVersions: Required value: must specify one of v1, v1beta1'],
  [
    { admissionReviewVersions: ['v9'] },
    'admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
  ],
  [{ admissionReviewVersions: ['v1', 'v1'] }, 'admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
])('%j', (change, expected) => {
  expect(problems([{ ...GOOD, ...change }])).toEqual([`webhooks[0].${expected}`]);
});

it('names are unique', () => {
  expect(problems([GOOD, GOOD])).toEqual(['webhooks[1].name: Duplicate value: "hook.example.com"']);
});

it('conditions are compiled, unless they are those that were there', () => {
  const webhooks = [{ ...GOOD, matchConditions: [{ name: 'a', expression: 'object.' }] }];
  expect(problems(webhooks)).toEqual([
    expect.stringMatching(
      /^webhooks\[0\].matchConditions\[0\].expression: Invalid value: "object.": compilation failed: ERROR: <input>:1:8: Syntax error/,
    ),
  ]);
  expect(problems(webhooks, { webhooks })).toEqual([]);
});
