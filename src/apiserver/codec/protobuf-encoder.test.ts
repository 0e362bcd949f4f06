import { describe, expect, it } from 'vitest';
import { cases } from '../builtins/testdata/cases.ts';
import { decodeProtobuf } from './protobuf.ts';
import { encodeEvent, encodeProtobuf, ListEncoder } from './protobuf-encoder.ts';
import { Reader } from './protobuf-reader.ts';

const meta = { name: 'a', creationTimestamp: '2026-01-02T03:04:05Z' };
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: meta,
  spec: {
    volumes: [{ name: 'v', configMap: { name: 'c', defaultMode: 420 } }],
    containers: [{ name: 'x', resources: { limits: { cpu: '500m' } }, livenessProbe: { httpGet: { port: 'http' } } }],
  },
};

// tools/gen-kinds/check.ts compares bytes with upstream's samples of all kinds; it needs the Go modules.
describe('encodeProtobuf', () => {
  it('is read back for objects of every kind', () => {
    const seen = new Set<string>();
    for (const { body, group } of cases) {
      // Only well-typed ones: what is stored is.
      if (!body?.kind || seen.has(`${group}/${body.kind}`) || typeof body.metadata !== 'object') continue;
      seen.add(`${group}/${body.kind}`);
      const object = decodeProtobuf(encodeProtobuf(body as { apiVersion: string; kind: string }));
      const again = decodeProtobuf(encodeProtobuf(object));
      expect(again, body.kind).toEqual(object);
      expect(object.metadata.name, body.kind).toBe(body.metadata.name);
    }
    expect(seen.size).toBeGreaterThan(30);
  });

  it('keeps what JSON writes otherwise', () => {
    expect(decodeProtobuf(encodeProtobuf(pod))).toEqual(pod);
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...meta, managedFields: [{ manager: 'm', fieldsV1: { 'f:a': {} }, time: '2026-01-02T03:04:05Z' }] },
      spec: { holderIdentity: 'ü', renewTime: '2026-01-02T03:04:05.123456Z', leaseTransitions: -1 },
    };
    expect(decodeProtobuf(encodeProtobuf(lease))).toEqual(lease);
    const offset = { ...lease, spec: { renewTime: '2026-01-02T05:04:05.120000+02:00' } };
    expect(decodeProtobuf(encodeProtobuf(offset)).spec.renewTime).toBe('2026-01-02T03:04:05.120000Z');
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'array', items: { type: 'string' }, default: ['x'], maximum: 1.5 },
        b: { type: 'object', additionalProperties: { type: 'integer' } },
        c: { type: 'object', additionalProperties: true },
      },
    };
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: meta,
      spec: { group: 'g', scope: 'Cluster', names: { plural: 'p', kind: 'K' }, versions },
    };
    expect(decodeProtobuf(encodeProtobuf(crd))).toMatchObject(crd);
  });

  it('frames events', () => {
    const frame = encodeEvent('ADDED', pod);
    expect(frame.readUInt32BE()).toBe(frame.length - 4);
    const reader = new Reader(frame, 4);
    expect([reader.uint32(), reader.string()]).toEqual([0x0a, 'ADDED']);
    expect(reader.uint32()).toBe(0x12);
    const raw = new Reader(reader.bytes(), 0);
    expect(raw.uint32()).toBe(0x0a);
    expect(decodeProtobuf(raw.bytes())).toEqual(pod);
  });

  it('encodes lists item by item', () => {
    const list = new ListEncoder({ apiVersion: 'v1', kind: 'PodList' });
    for (let i = 0; i < 3; i++) list.add({ ...pod, metadata: { name: `pod-${i}` } });
    const { apiVersion, kind, spec } = pod;
    expect(decodeProtobuf(Buffer.concat(list.finish({ resourceVersion: '7', remainingItemCount: 2 })))).toEqual({
      apiVersion,
      kind: `${kind}List`,
      metadata: { resourceVersion: '7', remainingItemCount: 2 },
      items: [0, 1, 2].map((i) => ({ metadata: { name: `pod-${i}` }, spec })),
    });
  });

  it('knows the older numbering of metadata lists', () => {
    const list = new ListEncoder({ apiVersion: 'meta.k8s.io/v1beta1', kind: 'PartialObjectMetadataList' });
    list.add({ apiVersion: 'meta.k8s.io/v1beta1', kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    const [, head, item] = list.finish({ resourceVersion: '7' });
    expect([head?.[0], item?.[0]]).toEqual([0x12, 0x0a]);
  });
});
