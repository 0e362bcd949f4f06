// What a worker thread makes of apply, records, patches and tables is what the main thread makes of them.
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { applyConfiguration } from '../apply/apply-configuration.ts';
import { setOf } from '../apply/field-set.ts';
import { recordUpdate } from '../apply/record-update.ts';
import { cellsOf } from '../crd/printer.ts';
import { definition } from '../kinds/definition.ts';
import { patched } from '../patch/patched.ts';
import type { Schema } from '../schema/schema.ts';
import { NO_SUBJECT, offloadNow } from './offload.ts';

const NAME = { group: 'apps', version: 'v1', kind: 'Deployment' };
const SCHEMA = definition('io.k8s.api.apps.v1.Deployment');

const deployment = (replicas: number, image: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a', namespace: 'default', labels: { app: 'a', constructor: 'x' } },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'one', image, ports: [{ containerPort: 80 }], env: [{ name: 'E', value: '1' }] }] },
    },
  },
});

const terms = {
  apiVersion: 'apps/v1',
  subresource: '',
  structs: true,
  reset: setOf(['f:status']),
  now: 1_700_000_000_000,
};
const update = (live: KubeObject | undefined, object: KubeObject, manager: string) => ({
  ...terms,
  live,
  object,
  manager,
});
const apply = (live: KubeObject | undefined, config: KubeObject, manager: string) => ({
  ...terms,
  live,
  config,
  manager,
  force: false,
  kind: 'Deployment',
});

const first = deployment(1, 'a:1');
const live: KubeObject = {
  ...first,
  metadata: {
    ...first.metadata,
    uid: 'u',
    managedFields: recordUpdate({ ...update(undefined, first, 'one'), schema: SCHEMA }),
  },
};

describe('a worker thread makes the same', { timeout: 100_000 }, () => {
  it.each([
    ['a create', update(undefined, first, 'one')],
    ['an update', update(live, deployment(2, 'a:2'), 'two')],
  ])('record of %s', async (_, request) => {
    const here = recordUpdate({ ...request, schema: SCHEMA });
    expect(await offloadNow('record', [NO_SUBJECT, NAME, request])).toEqual(here);
  });

  it.each([
    ['nothing', apply(undefined, first, 'one')],
    ['an object', apply(live, { ...first, spec: { selector: first.spec.selector, paused: true } }, 'two')],
  ])('object of a configuration applied to %s', async (_, request) => {
    const here = applyConfiguration({ ...request, schema: SCHEMA });
    expect(await offloadNow('apply', [NO_SUBJECT, NAME, request])).toEqual(here);
  });

  it('conflict', async () => {
    const request = apply(live, deployment(3, 'b:1'), 'two');
    let conflict: unknown;
    try {
      applyConfiguration({ ...request, schema: SCHEMA });
    } catch (error) {
      conflict = error;
    }
    expect(conflict).toMatchObject({ code: 409 });
    await expect(offloadNow('apply', [NO_SUBJECT, NAME, request])).rejects.toEqual(conflict);
  });

  it.each([
    [
      'json',
      [
        { op: 'replace', path: '/spec/replicas', value: 5 },
        { op: 'remove', path: '/metadata/labels/app' },
      ],
    ],
    ['merge', { spec: { replicas: null, paused: true } }],
    ['strategic', { spec: { template: { spec: { containers: [{ name: 'one', image: 'c' }, { name: 'two' }] } } } }],
  ] as const)('object of a %s patch', async (type, patch) => {
    const here = patched(type, live, patch, SCHEMA);
    expect(await offloadNow('patch', [NO_SUBJECT, NAME, type, live, patch])).toEqual(here);
  });

  it('fields of a custom resource', async () => {
    const schema: Schema = {
      type: 'object',
      properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    };
    const object = { apiVersion: 'a.dev/v1', kind: 'A', metadata: { name: 'a' }, spec: { a: [1], b: { c: null } } };
    const request = { ...update(undefined, object, 'one'), apiVersion: 'a.dev/v1', structs: false };
    const here = recordUpdate({ ...request, schema });
    expect(await offloadNow('record', [schema, undefined, request])).toEqual(here);
    const columns = ['.spec.a', '.spec.b.c', '.spec.a[0]', '.spec..c', '.nothing', '{'].map((jsonPath, i) => ({
      name: `c${i}`,
      type: 'string',
      jsonPath,
    }));
    expect(await offloadNow('cells', [columns, object, 0])).toEqual(cellsOf(columns)(object, 0));
  });
});
