// What people at a terminal see of webhooks: refusals, warnings, defaults, and kinds in several versions.
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type Kubectl, kubectl } from '../harness/kubectl.ts';
import { webhookScene } from '../harness/webhook-scene.ts';
import { admission, conversion, patch } from '../harness/webhook-server.ts';

const scene = webhookScene();
let run: Kubectl;

beforeAll(async () => {
  run = kubectl(await scene.server.kubeconfig(), join(scene.server.folder, 'kubectl'));
});

it('a refusal names the webhook', async () => {
  await scene.configure('validating', '/deny', {}, 'no-maps');
  const { code, err } = await run('create configmap refused --from-literal=a=1');
  expect(code).toBe(1);
  expect(err.trim()).toBe(
    'error: failed to create configmap: admission webhook "no-maps.example.com" denied the request: no maps today',
  );
  const applied = await run('apply -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: refused}\n');
  expect(applied.err.trim()).toBe(
    'Error from server: error when creating "STDIN": admission webhook "no-maps.example.com" denied the request: no maps today',
  );
});

it('warnings are printed, patches are there, a dry run shows them and stores nothing', async () => {
  scene.hooks.on('/warn', (review) => admission(review, { allowed: true, warnings: ['maps are old-fashioned'] }));
  scene.hooks.on('/label', patch([{ op: 'add', path: '/metadata/labels', value: { by: 'webhook' } }]));
  await scene.configure('validating', '/warn');
  await scene.configure('mutating', '/label');
  const dry = await run('create configmap mapped --from-literal=a=1 --dry-run=server -o yaml');
  expect(dry.out).toContain('by: webhook');
  expect((await run('get configmap mapped')).err).toContain('NotFound');
  const { out, err } = await run('create configmap mapped --from-literal=a=1');
  expect(out).toBe('configmap/mapped created\n');
  expect(err).toBe('Warning: maps are old-fashioned\n');
  expect((await run('get configmap mapped --show-labels --no-headers')).out).toMatch(/by=webhook\n$/);
});

it('a configuration without side effects said is refused, and one that is given gets its defaults', async () => {
  const configuration = (more: string) => `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: by-hand}
webhooks:
- name: by-hand.example.com
  clientConfig: {service: {namespace: default, name: none}}
  admissionReviewVersions: [v1]
${more}`;
  const refused = await run('apply -f -', configuration('  timeoutSeconds: 60\n'));
  expect(refused.err).toContain('webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun');
  expect(refused.err).toContain(
    'webhooks[0].timeoutSeconds: Invalid value: 60: the timeout value must be between 1 and 30',
  );
  expect((await run('apply -f -', configuration('  sideEffects: None\n'))).code).toBe(0);
  const { out } = await run("get validatingwebhookconfiguration by-hand -o jsonpath='{.webhooks[0]}'");
  expect(JSON.parse(out)).toMatchObject({
    clientConfig: { service: { port: 443 } },
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
  });
  await run('delete validatingwebhookconfiguration by-hand');
});

it('a kind in two versions is written in one and read in the other', async () => {
  scene.hooks.on(
    '/convert',
    conversion((object, apiVersion) => {
      const { size, width } = object.spec;
      const spec = apiVersion.endsWith('/v2') ? { width: Number(size) } : { size: String(width) };
      return { ...object, apiVersion, spec };
    }),
  );
  const { url, caBundle } = scene.hooks.at('/convert');
  const version = (name: string, field: string, type: string) => `
  - name: ${name}
    served: true
    storage: ${name === 'v1'}
    additionalPrinterColumns: [{name: ${field}, type: ${type}, jsonPath: .spec.${field}}]
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {${field}: {type: ${type}}}}}`;
  const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: boxes, singular: box, kind: Box}
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: '${url}', caBundle: ${caBundle}}}
  versions:${version('v1', 'size', 'string')}${version('v2', 'width', 'integer')}
`;
  expect((await run('apply -f -', crd)).all).toBe(
    'customresourcedefinition.apiextensions.k8s.io/boxes.example.com created',
  );
  await run('wait --for=condition=Established crd/boxes.example.com');
  const box = 'apiVersion: example.com/v1\nkind: Box\nmetadata: {name: a}\nspec: {size: "3"}\n';
  expect((await run('apply -f -', box)).all).toBe('box.example.com/a created');
  expect((await run('get boxes.v2.example.com')).out).toMatch(/NAME +WIDTH\na +3\n/);
  expect((await run('get boxes.v1.example.com')).out).toMatch(/NAME +SIZE\na +3\n/);
  const applied = await run(
    'apply --server-side -f -',
    'apiVersion: example.com/v2\nkind: Box\nmetadata: {name: a, labels: {x: z}}\n',
  );
  expect(applied.all).toBe('box.example.com/a serverside-applied');
  expect((await run('patch boxes.v2.example.com a --type=merge -p \'{"spec":{"width":5}}\'')).code).toBe(0);
  expect((await run("get boxes.v1.example.com a -o jsonpath='{.spec.size}'")).out).toBe('5');
  scene.hooks.on('/convert', () => ({}));
  expect((await run('label boxes.v1.example.com a new=content')).code).toBe(0);
  expect((await run('get boxes.v2.example.com')).err).toContain(
    'conversion webhook for example.com/v1, Kind=Box failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
  );
});
