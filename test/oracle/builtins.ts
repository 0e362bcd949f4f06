/** Built-in kinds as upstream publishes them, and random objects of them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { Schema } from '../../src/apiserver/schema/schema.ts';

type Raw = Schema & { $ref?: string };

/** The schema of a definition from the OpenAPI documents in the published module, references linked. */
export function publishedSchema(document: string, name: string): Schema {
  const cache = execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim();
  const file = `${cache}/k8s.io/kubernetes@v1.35.8/api/openapi-spec/v3/${document}_openapi.json`;
  const schemas = JSON.parse(readFileSync(file, 'utf8')).components.schemas as Record<string, Raw>;
  const linked = new Set<Raw>();
  const link = (raw: Raw): Schema => {
    const target = raw.$ref ? (schemas[raw.$ref.split('/').pop() as string] as Raw) : raw;
    if (linked.has(target)) return target;
    linked.add(target);
    for (const [key, value] of Object.entries(target.properties ?? {}))
      (target.properties as Record<string, Schema>)[key] = link(value);
    if (target.items) target.items = link(target.items);
    if (typeof target.additionalProperties === 'object')
      target.additionalProperties = link(target.additionalProperties);
    if (target.allOf) target.allOf = target.allOf.map(link);
    return target;
  };
  return link(schemas[name] as Raw);
}

const word = fc.constantFrom('x', 'y', 'z');
const words = fc.dictionary(word, word, { minKeys: 1, maxKeys: 2 });

/** Values Go would leave out (zeroes, empty lists) are not made: the codec drops them before anyone compares. */
function some<T>(parts: Record<string, fc.Arbitrary<T>>): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(parts, { requiredKeys: [] }) as fc.Arbitrary<Record<string, unknown>>;
}

function named(parts: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown[]> {
  const one = fc.tuple(word, some(parts)).map(([name, rest]) => ({ name, ...rest }));
  return fc.uniqueArray(one, { minLength: 1, maxLength: 3, selector: (item) => item.name });
}

export const metadata = some<unknown>({
  labels: words,
  annotations: words,
  finalizers: fc.uniqueArray(word, { minLength: 1, maxLength: 2 }),
  ownerReferences: fc.uniqueArray(
    word.map((uid) => ({ apiVersion: 'v1', kind: 'K', name: 'n', uid })),
    { minLength: 1, maxLength: 2, selector: (owner) => owner.uid },
  ),
});

const TIME = '2020-01-01T00:00:00Z';
const port = fc.constantFrom(80, 443, 8080);
const protocol = fc.constantFrom('TCP', 'UDP');

const container = {
  image: word,
  ports: fc.uniqueArray(
    fc
      .tuple(port, some<unknown>({ protocol, name: word }))
      .map(([containerPort, rest]): Record<string, unknown> => ({ containerPort, ...rest })),
    { minLength: 1, maxLength: 3, selector: (item) => `${item.containerPort} ${item.protocol ?? 'TCP'}` },
  ),
  env: named({ value: word }),
  args: fc.array(word, { minLength: 1, maxLength: 2 }),
  resources: some<unknown>({
    limits: fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('1', '2'), { minKeys: 1 }),
  }),
};

const template = some<unknown>({
  metadata: some<unknown>({ labels: words }),
  spec: some<unknown>({
    containers: named(container),
    initContainers: named({ image: word }),
    volumes: named({ emptyDir: fc.constant({}), configMap: word.map((name) => ({ name })) }),
    nodeSelector: words,
    restartPolicy: word,
    tolerations: fc.array(some<unknown>({ key: word, operator: word }), { minLength: 1, maxLength: 2 }),
    securityContext: some<unknown>({ runAsUser: port }),
    imagePullSecrets: named({}),
  }),
});

const deployment = some<unknown>({
  spec: some<unknown>({
    replicas: fc.integer({ min: 0, max: 3 }),
    selector: some<unknown>({ matchLabels: words }),
    strategy: some<unknown>({
      type: word,
      rollingUpdate: some<unknown>({ maxSurge: fc.constantFrom<unknown>(1, '25%') }),
    }),
    template,
  }),
  status: some<unknown>({
    replicas: fc.integer({ min: 1, max: 3 }),
    conditions: fc.uniqueArray(
      fc.tuple(word, word).map(([type, status]) => ({ type, status, lastTransitionTime: TIME, lastUpdateTime: TIME })),
      { minLength: 1, maxLength: 2, selector: (condition) => condition.type },
    ),
  }),
});

const service = some<unknown>({
  spec: some<unknown>({
    selector: words,
    type: word,
    clusterIPs: fc.array(word, { minLength: 1, maxLength: 2 }),
    ports: fc.uniqueArray(
      fc
        .tuple(port, fc.constantFrom<unknown>(80, 'x'), some<unknown>({ protocol, name: word }))
        .map(([port, targetPort, rest]): Record<string, unknown> => ({ port, targetPort, ...rest })),
      { minLength: 1, maxLength: 3, selector: (item) => `${item.port} ${item.protocol ?? 'TCP'}` },
    ),
  }),
  status: some<unknown>({
    loadBalancer: some<unknown>({ ingress: fc.array(some<unknown>({ ip: word }), { minLength: 1, maxLength: 2 }) }),
  }),
});

const configMap = some<unknown>({ data: words, immutable: fc.constant(true) });

export const builtins = {
  Deployment: {
    apiVersion: 'apps/v1',
    document: 'apis__apps__v1',
    definition: 'io.k8s.api.apps.v1.Deployment',
    body: deployment,
  },
  Service: { apiVersion: 'v1', document: 'api__v1', definition: 'io.k8s.api.core.v1.Service', body: service },
  ConfigMap: { apiVersion: 'v1', document: 'api__v1', definition: 'io.k8s.api.core.v1.ConfigMap', body: configMap },
};
