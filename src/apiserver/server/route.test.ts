import { describe, expect, it } from 'vitest';
import { clusterNamed, parseRoute, serverNameOf, splitCluster } from './route.ts';

const parse = (method: string, url: string) => {
  const { pathname, searchParams } = new URL(url, 'https://x');
  return parseRoute(method, pathname, searchParams);
};

describe('routes', () => {
  it.each([
    ['GET', '/api/v1/pods', { verb: 'list', plural: 'pods', namespace: '', name: '' }],
    ['GET', '/api/v1/pods?watch=true', { verb: 'watch', plural: 'pods' }],
    ['GET', '/api/v1/watch/namespaces/n/pods/p', { verb: 'watch', plural: 'pods', namespace: 'n', name: 'p' }],
    ['GET', '/api/v1/namespaces/n', { verb: 'get', plural: 'namespaces', namespace: '', name: 'n' }],
    [
      'PUT',
      '/api/v1/namespaces/n/finalize',
      { verb: 'update', plural: 'namespaces', name: 'n', subresource: 'finalize' },
    ],
    ['DELETE', '/api/v1/namespaces/n/pods', { verb: 'deletecollection', plural: 'pods', namespace: 'n' }],
    ['POST', '/apis/apps/v1/namespaces/n/deployments', { verb: 'create', group: 'apps', plural: 'deployments' }],
    ['PATCH', '/apis/apps/v1/namespaces/n/deployments/d/scale', { verb: 'patch', subresource: 'scale', name: 'd' }],
    ['GET', '/api/v1/namespaces/n/pods/p/proxy/a/b', { subresource: 'proxy', rest: 'a/b' }],
    ['GET', '/api/v1/namespaces/n/configmaps/a%2Fb', { name: 'a/b' }],
  ])('%s %s', (method, url, expected) => {
    expect(parse(method, url)).toMatchObject({ kind: 'resource', ...expected });
  });

  it.each(['/', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/version', '/healthz'])(
    '%s is a path',
    (path) => {
      expect(parse('GET', path)).toEqual({ kind: 'path', path, verb: 'get' });
    },
  );

  it('finds the cluster', () => {
    expect(splitCluster('/clusters/demo/api/v1')).toEqual({ cluster: 'demo', path: '/api/v1' });
    expect(splitCluster('/clusters/demo')).toEqual({ cluster: 'demo', path: '/' });
    expect(splitCluster('/api/v1')).toEqual({ cluster: '', path: '/api/v1' });
  });

  it('finds the cluster in the TLS server name where the path says nothing', () => {
    for (const name of ['demo', 'team-a.demo']) expect(clusterNamed(serverNameOf(name))).toBe(name);
    expect(serverNameOf('team-a.demo')?.split('.').length).toBe(4);
    expect(serverNameOf('x'.repeat(64))).toBeUndefined();
    for (const other of [undefined, null, false, '', 'localhost', 'clusters.rookery.internal'] as const) {
      expect(clusterNamed(other)).toBe('');
    }
  });
});
