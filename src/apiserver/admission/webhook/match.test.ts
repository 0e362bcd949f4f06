// Every rule that decides whether a webhook is called.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/object.ts';
import { Registry } from '../../kinds/registry.ts';
import type { Resource } from '../../resource.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { isExempt } from './exempt.ts';
import { hooksOf } from './hook.ts';
import { type Forms, invocationOf } from './match.ts';
import { covers, type Rule } from './rules.ts';

const registry = new Registry();
const find = (group: string, version: string, plural: string) => registry.find(group, version, plural) as Resource;

function attributes(changes: Partial<AdmissionAttributes> = {}): AdmissionAttributes {
  const namespaces: Record<string, KubeObject> = {
    shop: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'shop' } } },
  };
  const store = {
    get: ({ name }: { name: string }) => namespaces[name] && { object: () => namespaces[name] },
    list: () => ({ items: [] }),
    count: () => 0,
  };
  return {
    operation: 'CREATE',
    resource: find('', 'v1', 'pods'),
    subresource: '',
    object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', labels: { app: 'web' } } },
    namespace: 'shop',
    name: 'web',
    identity: { user: 'kim', groups: ['dev'] },
    dryRun: false,
    store: store as never,
    now: 0,
    ...changes,
  };
}

const PODS: Rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] };

async function matched(webhook: object, changes: Partial<AdmissionAttributes> = {}) {
  const given = attributes(changes);
  const [hook] = hooksOf({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'test' },
    webhooks: [{ name: 'a.b.c', rules: [PODS], ...webhook }],
  });
  const forms: Forms = { object: async () => given.object, old: async () => given.old };
  const authorizer = {
    authorize: (_: unknown, { verb }: { verb: string }) => ({ allowed: verb === 'get', reason: '' }),
  };
  return invocationOf(hook as never, given, { registry, authorizer }, forms);
}

describe('rules', () => {
  const subject = {
    operation: 'UPDATE',
    group: 'apps',
    version: 'v1',
    plural: 'deployments',
    subresource: '',
    namespaced: true,
  };
  const all: Rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] };
  it.each([
    [{}, {}, true],
    [{ operations: ['CREATE', 'DELETE'] }, {}, false],
    [{ operations: ['CREATE', 'UPDATE'] }, {}, true],
    [{ apiGroups: [''] }, {}, false],
    [{ apiVersions: ['v1beta1'] }, {}, false],
    [{ resources: ['deployments'] }, {}, true],
    [{ resources: ['deployments'] }, { subresource: 'status' }, false],
    [{ resources: ['*'] }, { subresource: 'status' }, false],
    [{ resources: ['deployments/status'] }, { subresource: 'status' }, true],
    [{ resources: ['deployments/*'] }, { subresource: 'scale' }, true],
    [{ resources: ['deployments/*'] }, {}, true],
    [{ resources: ['*/scale'] }, { subresource: 'scale' }, true],
    [{ resources: ['*/*'] }, { subresource: 'scale' }, true],
    [{ resources: ['pods'] }, {}, false],
    [{ scope: 'Namespaced' }, {}, true],
    [{ scope: 'Cluster' }, {}, false],
    [{ scope: 'Cluster' }, { namespaced: false }, true],
    [{ scope: '*' }, { namespaced: false }, true],
  ])('%j cover %j: %s', (rule, changes, expected) => {
    expect(covers({ ...all, ...rule }, { ...subject, ...changes })).toBe(expected);
  });
});

describe('selectors', () => {
  it('of namespaces look at the labels of the namespace', async () => {
    expect(await matched({ namespaceSelector: { matchLabels: { team: 'shop' } } })).toBeDefined();
    expect(await matched({ namespaceSelector: { matchLabels: { team: 'bank' } } })).toBeUndefined();
  });

  it('of namespaces exempt nothing that is in none', async () => {
    const nodes = { resource: find('', 'v1', 'nodes'), namespace: '' };
    const rules = [{ ...PODS, resources: ['nodes'] }];
    expect(await matched({ rules, namespaceSelector: { matchLabels: { team: 'bank' } } }, nodes)).toBeDefined();
  });

  it('of namespaces judge a namespace by what it shall be', async () => {
    const rules = [{ ...PODS, resources: ['namespaces'], scope: 'Cluster' }];
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new', labels: { team: 'bank' } } };
    const changes = { resource: find('', 'v1', 'namespaces'), namespace: '', name: 'new', object };
    expect(await matched({ rules, namespaceSelector: { matchLabels: { team: 'bank' } } }, changes)).toBeDefined();
    expect(await matched({ rules, namespaceSelector: { matchLabels: { team: 'shop' } } }, changes)).toBeUndefined();
  });

  it('of namespaces fail for one that is missing, if a rule covers the request', async () => {
    const namespaceSelector = { matchLabels: { team: 'shop' } };
    await expect(matched({ namespaceSelector }, { namespace: 'gone' })).rejects.toMatchObject({ code: 404 });
    expect(await matched({ namespaceSelector, rules: [] }, { namespace: 'gone' })).toBeUndefined();
  });

  it('of objects look at the new and the old one', async () => {
    const objectSelector = { matchLabels: { app: 'web' } };
    expect(await matched({ objectSelector })).toBeDefined();
    const bare = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } };
    expect(await matched({ objectSelector }, { object: bare })).toBeUndefined();
    expect(await matched({ objectSelector }, { object: bare, old: attributes().object })).toBeDefined();
    expect(await matched({ objectSelector }, { object: undefined, old: bare })).toBeUndefined();
  });
});

describe('matchPolicy', () => {
  const rules = [{ operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['*'] }];
  const scaler = { resource: find('autoscaling', 'v2', 'horizontalpodautoscalers') };

  it('Equivalent finds another version of the same resource, and shows it in that', async () => {
    const invocation = await matched({ rules, matchPolicy: 'Equivalent' }, scaler);
    expect(invocation?.resource.version).toBe('v1');
    expect(invocation?.kind).toEqual({ group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler' });
  });

  it('Exact does not', async () => {
    expect(await matched({ rules, matchPolicy: 'Exact' }, scaler)).toBeUndefined();
  });

  it('prefers the version of the request', async () => {
    const both = [{ ...rules[0], apiVersions: ['v1', 'v2'] }];
    expect((await matched({ rules: both }, scaler))?.resource.version).toBe('v2');
  });

  it('Equivalent knows events of both groups', async () => {
    const core = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['events'] }];
    expect((await matched({ rules: core }, { resource: find('events.k8s.io', 'v1', 'events') }))?.resource.group).toBe(
      '',
    );
  });
});

describe('match conditions', () => {
  const matchConditions = (...expressions: string[]) =>
    expressions.map((expression, index) => ({ name: `c${index}`, expression }));

  it('all have to hold', async () => {
    const hold = "request.userInfo.username == 'kim'";
    expect(
      await matched({ matchConditions: matchConditions(hold, 'object.metadata.labels.app == "web"') }),
    ).toBeDefined();
    expect(await matched({ matchConditions: matchConditions(hold, 'false') })).toBeUndefined();
  });

  it('may ask what the user may do', async () => {
    const may = (verb: string) => `authorizer.group('').resource('pods').check('${verb}').allowed()`;
    expect(await matched({ matchConditions: matchConditions(may('get')) })).toBeDefined();
    expect(await matched({ matchConditions: matchConditions(may('delete')) })).toBeUndefined();
  });

  it('that fail refuse the request, or spare the call, as the policy says', async () => {
    const failing = { matchConditions: matchConditions('object.spec.none == 1') };
    await expect(matched(failing)).rejects.toMatchObject({
      code: 403,
      message: expect.stringMatching(
        /^pods "web" is forbidden: expression 'object.spec.none == 1' resulted in error: no such key/,
      ),
    });
    expect(await matched({ ...failing, failurePolicy: 'Ignore' })).toBeUndefined();
    expect(await matched({ matchConditions: matchConditions('object.spec.none == 1', 'false') })).toBeUndefined();
  });

  it('are not looked at where no rule covers the request', async () => {
    expect(await matched({ rules: [], matchConditions: matchConditions('object.none == 1') })).toBeUndefined();
  });
});

describe('configurations themselves', () => {
  it.each([
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ])('%s concern no webhook', (plural) => {
    const resource = find('admissionregistration.k8s.io', 'v1', plural);
    expect(isExempt(attributes({ resource }))).toBe(true);
    expect(isExempt(attributes())).toBe(false);
  });
});
