/** What a body can do to the program that reads it. */
import { gzipSync } from 'node:zlib';
import { type Attack, held, refused, type Subject, survived } from '../attack.ts';
import { named } from '../scene.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const MB = 1024 * 1024;

function sends(name: string, body: () => unknown, contentType = 'application/json', ...codes: number[]): Attack {
  return {
    name: `sends ${name}`,
    run: async ({ red }) => {
      const answer = await red.http.post(MAPS, body(), { contentType });
      if (codes.length > 0) refused(answer, ...codes);
      else survived(answer);
      const alive = await red.http.get('/api');
      held(alive.status === 200, `after it the server answered ${alive.status}`);
    },
  };
}

const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';
const map = (data: unknown) => ({ ...named('v1', 'ConfigMap', 'body'), data });

/** Nine levels of nine references each: 387 million values from 300 bytes. */
function aliasBomb(): string {
  const levels = Array.from({ length: 9 }, (_, i) =>
    i === 0
      ? 'a0: &a0 [x,x,x,x,x,x,x,x,x]'
      : `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(',')}]`,
  );
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n${levels.join('\n')}\n`;
}

function patches(name: string, type: 'json' | 'merge' | 'strategic' | 'apply', body: () => unknown): Attack {
  return {
    name: `patches with ${name}`,
    run: async ({ red }) => {
      await red.http.post(MAPS, { ...named('v1', 'ConfigMap', 'patched'), data: { a: 'b' } });
      survived(await red.http.patch(`${MAPS}/patched?fieldManager=x`, type, body()));
    },
  };
}

export const bodies: Subject = {
  name: 'bodies',
  attacks: [
    sends('4 MB of JSON', () => map({ a: 'x'.repeat(4 * MB) }), undefined, 413),
    sends('JSON that is nested 100,000 levels deep', () => `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    sends('JSON that is nested and never ends', () => '{"a":'.repeat(100_000), undefined, 400),
    sends('YAML that is nested 20,000 levels deep', () => `a: ${'['.repeat(20_000)}`, yaml, 400),
    sends('a YAML alias bomb', aliasBomb, yaml, 400, 413, 422),
    sends('YAML with a tag of another language', () => 'a: !!js/function "function(){ process.exit() }"', yaml),
    {
      name: 'sends 30,000 nested YAML keys, which its parser needs minutes for',
      run: async ({ red }) =>
        survived(await red.http.post(`${MAPS}?timeout=3s`, '? '.repeat(30_000), { contentType: yaml })),
    },
    sends('YAML that merges itself', () => 'a: &a\n  <<: *a\n', yaml),
    sends('700,000 YAML documents', () => '---\n'.repeat(700_000), yaml),
    sends('YAML of 500,000 keys', () => Array.from({ length: 250_000 }, (_, i) => `k${i}: 1`).join('\n'), yaml),
    sends('text that is not UTF-8', () => Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
    sends(
      'a lone surrogate',
      () => '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"s"},"data":{"a":"\\ud800"}}',
    ),
    sends('keys of prototypes', () => '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
    sends(
      'a number of 100,000 digits',
      () => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generation":${'9'.repeat(100_000)}}}`,
    ),
    sends('a name with a NUL byte', () => ({ ...map({}), metadata: { name: 'a\0b' } }), undefined, 422),
    sends('a name that is a path', () => ({ ...map({}), metadata: { name: '../../etc/passwd' } }), undefined, 422),
    sends('an empty body', () => '', undefined, 400),
    sends('protobuf that ends in the middle', () => Buffer.from('6b38730001020304', 'hex'), protobuf, 400),
    sends('protobuf that claims 4 GB', () => Buffer.from('6b3873000a04ffffffff0f', 'hex'), protobuf, 400),
    sends('random bytes as protobuf', () => Buffer.alloc(MB, 0x0a), protobuf, 400),
    sends('an unknown content type', () => 'x', 'text/x-evil', 415),
    {
      name: 'sends a gzip bomb',
      run: async ({ red }) => {
        const body = gzipSync(Buffer.alloc(512 * MB, 0x20));
        survived(await red.http.post(MAPS, body, { headers: { 'content-encoding': 'gzip' } }));
      },
    },
    patches('copies that double a value 40 times', 'json', () =>
      Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/x${i}` })),
    ),
    patches('200,000 operations', 'json', () =>
      Array.from({ length: 60_000 }, () => ({ op: 'test', path: '/data/a', value: 'b' })),
    ),
    patches('a path through a prototype', 'json', () => [{ op: 'add', path: '/__proto__/polluted', value: 1 }]),
    patches('directives in every place', 'strategic', () => ({
      $patch: 'replace',
      data: { $patch: 'delete', '$deleteFromPrimitiveList/a': [1], '$setElementOrder/a': [{}], $retainKeys: [{}] },
    })),
    patches('a merge patch that is a list', 'merge', () => [1, 2]),
    patches('100,000 applied keys', 'apply', () => ({
      ...named('v1', 'ConfigMap', 'patched'),
      data: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 'v'])),
    })),
    ...[
      'fieldSelector=__proto__%3Dx',
      'labelSelector=((((',
      'limit=-1',
      'timeoutSeconds=1e99&watch=1',
      'continue=__proto__',
      'resourceVersion=-1',
    ].map(
      (query): Attack => ({
        name: `lists with ?${query}`,
        run: async ({ red }) => {
          const answer = await red.http.open('GET', `${MAPS}?${query}`);
          answer.destroy();
          held((answer.statusCode ?? 0) < 500, `answered ${answer.statusCode}`);
        },
      }),
    ),
    {
      name: 'creates a CRD without a spec',
      run: async ({ red }) =>
        refused(
          await red.http.post(
            '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
            named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'a.b.example.com'),
          ),
          400,
          422,
        ),
    },
    {
      name: 'reviews a YAML body of 700,000 documents',
      run: async ({ red }) =>
        survived(
          await red.http.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', '---\n'.repeat(700_000), {
            contentType: yaml,
          }),
        ),
    },
  ],
};
