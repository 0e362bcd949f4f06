import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import type { CustomResource, Resource } from '../resource.ts';
import { builtinResources } from './builtin.ts';
import { openApiDocument, openApiIndex } from './openapi-v3.ts';
import { Registry } from './registry.ts';

// biome-ignore lint/suspicious/noExplicitAny: a parsed document
async function parsed(registry: Registry, path: string): Promise<any> {
  return JSON.parse((await openApiDocument(registry, path))?.body ?? 'null');
}

function job(): Resource {
  const model = builtinResources().find((r) => r.kind === 'ConfigMap') as Resource;
  return {
    ...model,
    group: 'rookery.dev',
    version: 'v1alpha1',
    plural: 'clusterjobs',
    singular: 'clusterjob',
    kind: 'ClusterJob',
    listKind: 'ClusterJobList',
    storage: 'rookery.dev/clusterjobs',
    subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
    custom: {} as CustomResource,
    schema: () => ({ type: 'object', description: 'A request.', properties: { spec: { type: 'object' } } }),
  };
}

// The full comparison with the published documents is tools/gen-kinds/check.ts; it needs the Go modules.
describe('OpenAPI v3', () => {
  it('gives kubectl the PATCH operation it looks for', async () => {
    const { paths } = await parsed(new Registry(), 'apis/apps/v1');
    const { patch } = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', kind: 'Deployment', version: 'v1' });
    expect(patch['x-kubernetes-action']).toBe('patch');
    expect(patch.parameters.map((p: { name: string }) => p.name)).toContain('fieldValidation');
    expect(Object.keys(patch.requestBody.content)).toContain('application/strategic-merge-patch+json');
    expect(paths['/apis/apps/v1/deployments'].get.operationId).toBe('listAppsV1DeploymentForAllNamespaces');
    expect(
      paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale'].get['x-kubernetes-group-version-kind']
        .kind,
    ).toBe('Scale');
  });

  it('has no reference that leads nowhere, in any document', async () => {
    const registry = new Registry();
    for (const path of Object.keys((await openApiIndex(registry)).paths)) {
      const text = (await openApiDocument(registry, path))?.body ?? '';
      const { schemas } = JSON.parse(text).components;
      for (const [, name] of text.matchAll(/#\/components\/schemas\/([^"]+)/g)) {
        expect(schemas[name as string], `${path}: ${name}`).toBeDefined();
      }
    }
  });

  it('describes kinds and fields, keeps markers and enums', async () => {
    const { schemas } = (await parsed(new Registry(), 'api/v1')).components;
    const pod = schemas['io.k8s.api.core.v1.Pod'];
    expect(pod.description).toMatch(/containers/);
    expect(pod['x-kubernetes-group-version-kind']).toEqual([{ group: '', kind: 'Pod', version: 'v1' }]);
    expect(pod.properties.spec.allOf).toEqual([{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodSpec' }]);
    expect(pod.properties.spec.description).toBeTruthy();
    const { containers, restartPolicy } = schemas['io.k8s.api.core.v1.PodSpec'].properties;
    expect(containers).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    });
    expect(restartPolicy.enum).toEqual(['Always', 'Never', 'OnFailure']);
  });

  it('indexes every group-version with its hash, under a prefix if told', async () => {
    const registry = new Registry();
    const index = await openApiIndex(registry, '/clusters/demo');
    const document = await openApiDocument(registry, 'apis/batch/v1');
    expect(index.paths['apis/batch/v1']?.serverRelativeURL).toBe(
      `/clusters/demo/openapi/v3/apis/batch/v1?hash=${document?.hash}`,
    );
    expect(Object.keys(index.paths)).toContain('api/v1');
    for (const path of ['', 'api', 'api/v2', 'apis/batch', 'apis/batch/v1/x', 'apis//v1', 'nope/batch/v1']) {
      expect(await openApiDocument(registry, path), path).toBeUndefined();
    }
  });

  it('publishes custom resources with what every object has', async () => {
    const registry = new Registry();
    registry.setCustom('clusterjobs.rookery.dev', [job()]);
    const { paths, components } = await parsed(registry, 'apis/rookery.dev/v1alpha1');
    const kind = components.schemas['dev.rookery.v1alpha1.ClusterJob'];
    expect(Object.keys(kind.properties).sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(kind.properties.metadata.allOf[0].$ref).toMatch(/ObjectMeta$/);
    expect(components.schemas['dev.rookery.v1alpha1.ClusterJobList'].properties.items.items.$ref).toMatch(
      /ClusterJob$/,
    );
    const { patch } = paths['/apis/rookery.dev/v1alpha1/namespaces/{namespace}/clusterjobs/{name}/status'];
    expect(patch['x-kubernetes-group-version-kind'].kind).toBe('ClusterJob');
    expect(Object.keys(patch.requestBody.content)).not.toContain('application/strategic-merge-patch+json');
  });

  it('shares built-in documents and remakes only what changed', async () => {
    const [one, two] = [new Registry(), new Registry()];
    two.setCustom('a', [job()]);
    expect(await openApiDocument(one, 'api/v1')).toBe(await openApiDocument(two, 'api/v1'));
    const before = await openApiDocument(two, 'apis/rookery.dev/v1alpha1');
    two.setCustom('b', [{ ...job(), group: 'other.dev' }]);
    expect(await openApiDocument(two, 'apis/rookery.dev/v1alpha1')).toBe(before);
    two.setCustom('a', [{ ...job(), schema: () => ({ type: 'object' }) }]);
    expect((await openApiDocument(two, 'apis/rookery.dev/v1alpha1'))?.hash).not.toBe(before?.hash);
  });

  it('does not hold up the event loop for many CRDs', async () => {
    const registry = new Registry();
    for (let i = 0; i < 100; i++) registry.setCustom(`crd${i}`, [{ ...job(), group: `g${i}.dev` }]);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await openApiIndex(registry);
    delay.disable();
    // The budget is 50 ms; the rest is for machines under load.
    expect(delay.max / 1e6).toBeLessThan(200);
  });
});
