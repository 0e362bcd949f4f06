/** Random requests and randomly broken objects, from a seed (FUZZ_SEED) that a failure names. */

import { describe, expect, it } from 'vitest';
import { cases } from '../../src/apiserver/builtins/testdata/cases.ts';
import { seeded } from '../harness/seeded.ts';
import { DEPLOYMENTS, MAPS, unharmedServer } from '../harness/unharmed.ts';
import { expectReadable } from '../harness/well-formed.ts';

const scene = unharmedServer();

describe('random', () => {
  const SEED = Number(process.env.FUZZ_SEED ?? 20_261_115);

  it(`requests of seed ${SEED}`, async () => {
    const random = seeded(SEED);
    const { pick } = random;
    const segment = () =>
      pick([
        'api',
        'apis',
        'v1',
        'apps',
        'namespaces',
        'default',
        'configmaps',
        'deployments',
        'keep2',
        'status',
        'scale',
        'watch',
        'pods',
        'log',
        'events',
        '',
        '%2f',
        '..',
        'x',
        '%F0%9F%90%A6',
        'customresourcedefinitions',
        'apiextensions.k8s.io',
        'subjectaccessreviews',
        'authorization.k8s.io',
        'clusters',
        'binding',
        'eviction',
        'token',
        'serviceaccounts',
      ]);
    const path = () =>
      random() < 0.6
        ? `${pick([MAPS, DEPLOYMENTS, '/api/v1/pods', '/api/v1/nodes', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', '/apis/rbac.authorization.k8s.io/v1/clusterroles', '/api/v1/namespaces/default/services', '/api/v1/namespaces/default/serviceaccounts/default/token', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', '/openapi/v3/api/v1'])}${pick(['', '', '/fuzz', '/fuzz/status', '/fuzz/scale'])}`
        : `/${Array.from({ length: Math.floor(random() * 8) }, segment).join('/')}`;
    const query = () =>
      Array.from(
        { length: Math.floor(random() * 4) },
        () =>
          `${pick(['limit', 'continue', 'resourceVersion', 'resourceVersionMatch', 'labelSelector', 'fieldSelector', 'dryRun', 'fieldManager', 'fieldValidation', 'force', 'gracePeriodSeconds', 'propagationPolicy', 'pretty', 'includeObject', '__proto__'])}=${pick(['', '0', '1', '-1', 'x', 'All', 'true', 'Exact', 'Strict', 'Warn', 'a%3Db', 'metadata.name%3Dfuzz', '%00', '%F0', '9'.repeat(30), 'Orphan'])}`,
      ).join('&');
    const value = (depth: number): unknown => {
      const kind = Math.floor(random() * (depth > 4 ? 7 : 9));
      if (kind === 7) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1));
      if (kind === 8)
        return Object.fromEntries(Array.from({ length: Math.floor(random() * 5) }, () => [key(), value(depth + 1)]));
      return [null, true, -1, 1.5, 'x', '', 2 ** 60][kind];
    };
    const key = () =>
      pick([
        'metadata',
        'name',
        'spec',
        'data',
        'labels',
        'annotations',
        'ownerReferences',
        'finalizers',
        'selector',
        'matchLabels',
        'template',
        'containers',
        'image',
        'replicas',
        'status',
        'conditions',
        'managedFields',
        'fieldsV1',
        'rules',
        'verbs',
        'ports',
        'port',
        'type',
        'versions',
        'schema',
        'openAPIV3Schema',
        'properties',
        'op',
        'path',
        'value',
        '$patch',
        '$setElementOrder/containers',
        '$retainKeys',
        '__proto__',
        'constructor',
        'env',
        'volumes',
        'resources',
        'limits',
        'cpu',
      ]);
    const body = (): unknown => {
      const made = value(0);
      if (random() < 0.7 && typeof made === 'object' && made !== null && !Array.isArray(made)) {
        const [apiVersion, kind] = pick([
          ['v1', 'ConfigMap'],
          ['apps/v1', 'Deployment'],
          ['v1', 'Pod'],
          ['v1', 'Service'],
          ['v1', 'Node'],
          ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
          ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
          ['authorization.k8s.io/v1', 'SelfSubjectAccessReview'],
          ['authentication.k8s.io/v1', 'TokenRequest'],
        ]);
        return { apiVersion, kind, metadata: { name: 'fuzz' }, ...made };
      }
      const text = JSON.stringify(made);
      return random() < 0.2 ? text.slice(0, Math.floor(random() * text.length)) : text;
    };
    for (let i = 0; i < 800; i++) {
      const method = pick(['GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
      const target = `${path()}?${query()}`;
      const contentType = pick(
        method === 'PATCH'
          ? PATCHES
          : ['application/json', 'application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', ''],
      );
      const sent = method === 'GET' || method === 'HEAD' ? undefined : body();
      // The object the other tests look at stays; so do those a cluster is born with.
      if (/keep|default\/?(\?|$)/.test(target) || (method === 'DELETE' && !target.includes('fuzz'))) continue;
      const accept = pick([
        '*/*',
        'application/json',
        'application/yaml',
        'application/json;as=Table;g=meta.k8s.io;v=v1',
        'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
      ]);
      const said = `seed ${SEED}, request ${i}: ${method} ${target} ${contentType} ${JSON.stringify(sent)?.slice(0, 2000)}`;
      const answer = await scene.http.send(method, target, { body: sent, contentType, headers: { accept } });
      expectReadable(answer, method, said);
      expect(scene.server.errors, said).toEqual([]);
    }
  });

  it(`objects of every kind, broken in one place, of seed ${SEED}`, async () => {
    const random = seeded(SEED + 1);
    const { pick } = random;
    const strange = [
      null,
      true,
      0,
      -1,
      1.5,
      2 ** 53,
      '',
      'x',
      '-',
      'ü\0',
      '9'.repeat(400),
      [],
      [null],
      {},
      { '': null },
      { __proto__x: [] },
    ];
    /** Every place in a value: its container and key. */
    const places = (value: object): [Record<string, unknown>, string][] =>
      Object.keys(value).flatMap((key) => {
        const child = (value as Record<string, unknown>)[key];
        const here: [Record<string, unknown>, string] = [value as Record<string, unknown>, key];
        return typeof child === 'object' && child !== null ? [here, ...places(child)] : [here];
      });
    const usable = cases.filter(({ body }) => typeof body?.metadata === 'object');
    for (let i = 0; i < 800; i++) {
      const { group, version, plural, namespaced, body } = pick(usable);
      const object = structuredClone(body);
      for (let times = 1 + Math.floor(random() * 2); times > 0; times--) {
        const [container, key] = pick(places(object));
        if (random() < 0.3) delete container[key];
        else container[key] = structuredClone(pick(strange));
      }
      const place = namespaced ? `namespaces/${object.metadata?.namespace ?? 'default'}/` : '';
      const target = `${group ? `/apis/${group}` : '/api'}/${version}/${place}${plural}`;
      const said = `seed ${SEED}, object ${i}: ${target} ${JSON.stringify(object).slice(0, 3000)}`;
      const name = encodeURIComponent(String(object.metadata?.name ?? 'x'));
      const answers = [
        await scene.http.post(`${target}?dryRun=All`, object),
        await scene.http.patch(`${target}/${name}?dryRun=All&fieldManager=fuzz&force=true`, 'apply', object),
      ];
      for (const answer of answers) expectReadable(answer, 'POST', said);
      expect(scene.server.errors, said).toEqual([]);
    }
  });
});

const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const;
