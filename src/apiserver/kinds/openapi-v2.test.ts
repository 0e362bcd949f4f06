import { describe, expect, it } from 'vitest';
import { Reader } from '../codec/protobuf-reader.ts';
import type { CustomResource, Resource } from '../resource.ts';
import { builtinResources } from './builtin.ts';
import { openApiV2 } from './openapi-v2.ts';
import { Registry } from './registry.ts';

function widget(group = 'widgets.dev', description = 'A widget.'): Resource {
  const model = builtinResources().find((r) => r.kind === 'ConfigMap') as Resource;
  return {
    ...model,
    group,
    plural: 'widgets',
    singular: 'widget',
    kind: 'Widget',
    listKind: 'WidgetList',
    storage: `${group}/widgets`,
    subresources: [],
    custom: {} as CustomResource,
    selectableFields: { 'spec.color': () => '' },
    schema: () => ({ type: 'object', description, properties: { spec: { type: 'object' } } }),
  };
}

function registryWith(...resources: Resource[]): Registry {
  const registry = new Registry();
  for (const resource of resources) registry.setCustom(`widgets.${resource.group}`, [resource]);
  return registry;
}

/** Fields of a message: number, and bytes or a number. */
function fields(bytes: Buffer): [number, Buffer | number][] {
  const reader = new Reader(bytes, 0);
  const found: [number, Buffer | number][] = [];
  while (reader.position < reader.end) {
    const tag = reader.uint32();
    found.push([tag >>> 3, (tag & 7) === 2 ? reader.bytes() : reader.int64()]);
  }
  return found;
}
const all = (bytes: Buffer, number: number) => fields(bytes).flatMap(([n, value]) => (n === number ? [value] : []));
const one = (bytes: Buffer, ...path: number[]) => path.reduce((inner, n) => all(inner, n)[0] as Buffer, bytes);

describe('OpenAPI v2', () => {
  it('says the same in protobuf as in JSON', async () => {
    const document = await openApiV2(registryWith(widget()));
    const json = JSON.parse(document.json.join(''));
    const bytes = Buffer.concat(await document.protobuf());
    const paths = all(one(bytes, 8), 2).map((entry) => one(entry as Buffer, 1).toString());
    expect(paths).toEqual(Object.keys(json.paths));
    const definitions = new Map(
      all(one(bytes, 9), 1).map((entry) => [one(entry as Buffer, 1).toString(), one(entry as Buffer, 2)]),
    );
    expect([...definitions.keys()]).toEqual(Object.keys(json.definitions));
    const kind = definitions.get('dev.widgets.v1.Widget') as Buffer;
    expect(one(kind, 4).toString()).toBe('A widget.');
    expect(one(kind, 22, 1).toString()).toBe('object');
    const names = all(one(kind, 25), 1).map((entry) => one(entry as Buffer, 1).toString());
    expect(names).toEqual(['spec', 'apiVersion', 'kind', 'metadata']);
    const extensions = all(kind, 31).map((entry) => [
      one(entry as Buffer, 1).toString(),
      JSON.parse(one(entry as Buffer, 2, 2).toString()),
    ]);
    expect(Object.fromEntries(extensions)).toEqual({
      'x-kubernetes-group-version-kind': [{ group: 'widgets.dev', kind: 'Widget', version: 'v1' }],
      'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }],
    });
  });

  it('has no defaults, and text where a value may be a number or text', async () => {
    const { definitions } = JSON.parse((await openApiV2(new Registry())).json.join(''));
    const { template } = definitions['io.k8s.api.apps.v1.DeploymentSpec'].properties;
    expect(template).toEqual({
      $ref: '#/definitions/io.k8s.api.core.v1.PodTemplateSpec',
      description: template.description,
    });
    const { Quantity, IntOrString } = {
      Quantity: definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'],
      IntOrString: definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'],
    };
    expect([Quantity, IntOrString]).toEqual([{ type: 'string' }, { type: 'string', format: 'int-or-string' }]);
    expect(JSON.stringify(definitions)).not.toMatch(/"default":(\{\}|"")/);
  });

  it('is made again when what is served changes, and only then', async () => {
    const plain = await openApiV2(new Registry());
    expect(await openApiV2(new Registry())).toBe(plain);
    const registry = registryWith(widget());
    const before = await openApiV2(registry);
    expect(await openApiV2(registry)).toBe(before);
    registry.setCustom('widgets.widgets.dev', [widget('widgets.dev', 'Another text.')]);
    expect((await openApiV2(registry)).etag).not.toBe(before.etag);
    registry.removeCustom('widgets.widgets.dev');
    expect((await openApiV2(registry)).etag).toBe(plain.etag);
  });

  it('does not hold up the event loop for many CRDs', async () => {
    await (await openApiV2(new Registry())).protobuf();
    const registry = registryWith(...Array.from({ length: 300 }, (_, i) => widget(`g${i}.dev`)));
    // Time says little on a machine under load; turns that others get say enough.
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await (await openApiV2(registry)).protobuf();
    clearImmediate(next);
    expect(turns).toBeGreaterThan(600);
  });
});
