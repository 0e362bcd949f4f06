import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../status.ts';
import { decodeProtobuf } from './protobuf.ts';

// A pencil for protobuf: enough to write bodies by hand. tools/gen-kinds/check.ts decodes upstream's samples of all kinds.
function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

type Part = [number: number, value: number | bigint | boolean | string | Buffer];

function message(...parts: Part[]): Buffer {
  return Buffer.concat(
    parts.map(([number, value]) => {
      if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') {
        return Buffer.concat([varint(number << 3), varint(typeof value === 'boolean' ? Number(value) : value)]);
      }
      const bytes = Buffer.from(value as string);
      return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
    }),
  );
}

function body(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const unknown = message([1, message([1, apiVersion], [2, kind])], [2, raw], [3, ''], [4, '']);
  return Buffer.concat([Buffer.from('k8s\0', 'latin1'), unknown]);
}

/** ObjectMeta as Go writes it: every field that is no pointer, zero or not. */
function meta(name: string, ...more: Part[]): Buffer {
  const zeros: Part[] = [
    [2, ''],
    [3, ''],
    [4, ''],
    [5, ''],
    [6, ''],
    [7, 0],
    [8, message()],
  ];
  return message([1, name], ...zeros, ...more);
}

function refused(bytes: Buffer): ApiError {
  try {
    decodeProtobuf(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe(400);
    return error as ApiError;
  }
  throw new Error('was accepted');
}

describe('decodeProtobuf', () => {
  it('reads what kubectl create namespace sends', () => {
    const raw = message([1, meta('team-a')], [2, message()], [3, message([1, ''])]);
    expect(decodeProtobuf(body('v1', 'Namespace', raw))).toEqual({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team-a' },
      spec: {},
      status: {},
    });
  });

  it('makes base64 of bytes and keeps maps', () => {
    const entry = (key: string, value: string) => message([1, key], [2, value]);
    const labels: Part[] = [
      [11, entry('app', 'x')],
      [11, entry('empty', '')],
      [11, entry('__proto__', 'own')],
    ];
    const secret = message(
      [1, meta('s', ...labels)],
      [2, entry('k', '\x00\x01')],
      [3, 'Opaque'],
      [4, entry('t', 'plain')],
    );
    const decoded = decodeProtobuf(body('v1', 'Secret', secret));
    expect(decoded.data).toEqual({ k: 'AAE=' });
    expect(decoded.stringData).toEqual({ t: 'plain' });
    expect(decoded.type).toBe('Opaque');
    expect(JSON.stringify(decoded.metadata.labels)).toBe('{"app":"x","empty":"","__proto__":"own"}');
  });

  it('knows quantities, int-or-string, inlined structs, zero values and pointers', () => {
    const port = message([1, ''], [2, 0], [3, 80], [4, 'TCP'], [5, '']);
    const get = message([1, '/ready'], [2, message([1, 1], [2, 0], [3, 'web'])], [3, ''], [4, '']);
    const probe = message([1, message([2, get])], [2, 0], [3, 1], [4, 0], [5, 0], [6, 0]);
    const limits = message([1, message([1, 'cpu'], [2, message([1, '250m'])])]);
    const container = message([1, 'c'], [2, 'nginx'], [5, ''], [6, port], [8, limits], [11, probe], [16, false]);
    const volume = message([1, 'tmp'], [2, message([2, message([1, 'Memory'])])]);
    // terminationGracePeriodSeconds and enableServiceLinks are pointers: zero stays.
    const spec = message([1, volume], [2, container], [3, 'Always'], [4, 0], [11, false], [30, false]);
    const pod = decodeProtobuf(body('v1', 'Pod', message([1, meta('p')], [2, spec], [3, message()])));
    expect(pod.spec).toEqual({
      volumes: [{ name: 'tmp', emptyDir: { medium: 'Memory' } }],
      containers: [
        {
          name: 'c',
          image: 'nginx',
          ports: [{ containerPort: 80, protocol: 'TCP' }],
          resources: { limits: { cpu: '250m' } },
          readinessProbe: { httpGet: { path: '/ready', port: 'web' }, timeoutSeconds: 1 },
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 0,
      enableServiceLinks: false,
    });
  });

  it('writes times as RFC 3339 and leaves zero times out', () => {
    const spec = message([1, 'me'], [2, 15], [4, message([1, 1_700_000_000], [2, 123_456_000])]);
    const lease = decodeProtobuf(
      body('coordination.k8s.io/v1', 'Lease', message([1, meta('l', [9, message([1, 60])])], [2, spec])),
    );
    expect(lease.metadata).toEqual({ name: 'l', deletionTimestamp: '1970-01-01T00:01:00Z' });
    expect(lease.spec).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      renewTime: '2023-11-14T22:13:20.123456Z',
    });
  });

  it('unfolds raw JSON and wrapped lists', () => {
    const revision = message([1, meta('r')], [2, message([1, '{"spec":{"a":[1]}}'])], [3, 7n]);
    expect(decodeProtobuf(body('apps/v1', 'ControllerRevision', revision))).toMatchObject({
      data: { spec: { a: [1] } },
      revision: 7,
    });
    const extra = message([1, 'scopes'], [2, message([1, 'a'], [1, 'b'])]);
    const review = message([1, meta('')], [2, message([3, 'jane'], [5, extra], [6, ''])], [3, message([1, false])]);
    expect(decodeProtobuf(body('authorization.k8s.io/v1', 'SubjectAccessReview', review)).spec).toEqual({
      user: 'jane',
      extra: { scopes: ['a', 'b'] },
    });
  });

  it('reads negative and large integers', () => {
    const priority = (value: bigint) => message([1, meta('x')], [2, value], [3, false], [4, '']);
    const value = (n: bigint) => decodeProtobuf(body('scheduling.k8s.io/v1', 'PriorityClass', priority(n))).value;
    expect(value(-5n)).toBe(-5);
    expect(value(2_000_000_000n)).toBe(2_000_000_000);
    const generation = (n: bigint) =>
      decodeProtobuf(body('v1', 'ConfigMap', message([1, message([7, n])]))).metadata.generation;
    expect(generation(9_007_199_254_740_991n)).toBe(9_007_199_254_740_991);
    expect(generation(-1n)).toBe(-1);
  });

  it('knows options under the group of any resource', () => {
    const options = message([1, 0n], [2, message([1, 'u-1'])], [4, 'Foreground']);
    for (const apiVersion of ['v1', 'apps/v1', 'policy/v1', 'rookery.dev/v1alpha1']) {
      expect(decodeProtobuf(body(apiVersion, 'DeleteOptions', options))).toEqual({
        apiVersion,
        kind: 'DeleteOptions',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u-1' },
        propagationPolicy: 'Foreground',
      });
    }
    const eviction = message([1, meta('p')], [2, options]);
    expect(decodeProtobuf(body('policy/v1', 'Eviction', eviction)).deleteOptions.preconditions).toEqual({ uid: 'u-1' });
    expect(decodeProtobuf(body('autoscaling/v1', 'Scale', message([1, meta('d')], [2, message([1, 3])]))).spec).toEqual(
      { replicas: 3 },
    );
  });

  it('refuses what is no body', () => {
    expect(refused(Buffer.alloc(0)).message).toBe('empty data');
    expect(refused(Buffer.from('{"kind":"Pod"}')).message).toContain('expected prefix [107 56 115 0]');
    expect(refused(Buffer.from('k8s\0', 'latin1')).message).toContain("'Kind' is missing");
    expect(refused(body('v1', 'Nope', message())).message).toBe('no kind "Nope" is registered for version "v1"');
    expect(refused(body('v1', '../x', message())).message).toContain('no kind');
    expect(refused(body('v1', 'toString', message())).message).toContain('no kind');
    expect(refused(body('example.com/v1', 'Pod', message())).message).toContain('no kind');
  });

  it('refuses broken messages', () => {
    refused(body('v1', 'ConfigMap', Buffer.from([0x0a, 0x7f])));
    refused(body('v1', 'ConfigMap', Buffer.from([0x08, 0x01])));
    refused(body('v1', 'ConfigMap', Buffer.from([0x0b])));
    refused(body('v1', 'ConfigMap', Buffer.alloc(12, 0xff)));
    refused(body('apps/v1', 'ControllerRevision', message([2, message([1, '{'])])));
    refused(body('apps/v1', 'ControllerRevision', message([2, message([1, '['.repeat(10_000) + ']'.repeat(10_000)])])));
  });

  it('bounds the depth of recursive kinds', () => {
    let props = message([5, 'object']);
    for (let i = 0; i < 1000; i++) props = message([28, props]);
    const version = message([1, 'v1'], [4, message([1, props])]);
    const crd = message([1, meta('x')], [2, message([7, version])]);
    expect(refused(body('apiextensions.k8s.io/v1', 'CustomResourceDefinition', crd)).message).toBe(
      'exceeded max depth',
    );
  });

  it('never fails in another way, whatever it is fed', () => {
    const good = body('v1', 'Pod', message([1, meta('p')], [2, message([2, message([1, 'c'], [2, 'i'])])]));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }),
        fc.nat(good.length),
        (edits, cut) => {
          const bytes = Buffer.from(good.subarray(0, cut));
          for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
          try {
            decodeProtobuf(bytes);
          } catch (error) {
            if (!(error instanceof ApiError) || error.code !== 400) throw error;
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});
