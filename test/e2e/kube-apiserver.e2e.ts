import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acquire, type Lease } from '../bed/services/service.ts';
import { Kubectl } from './support/kubectl.ts';

describe('a bare kube-apiserver on etcd', () => {
  let api: Lease;
  let kubectl: Kubectl;
  beforeAll(async () => {
    api = await acquire('kube-apiserver');
    kubectl = new Kubectl(api.env.KUBECONFIG as string);
  });
  afterAll(() => api?.release());

  test('answers with the version that was built', async () => {
    const version = JSON.parse(await kubectl.run('version', '-o', 'json')) as { serverVersion: { gitVersion: string } };
    expect(version.serverVersion.gitVersion).toBe('v1.35.8');
  });

  test('keeps what it is given', async () => {
    await kubectl.run('create', 'configmap', 'kept', '--from-literal=a=b');
    expect((await kubectl.get<{ data: object }>('configmap', 'kept')).data).toEqual({ a: 'b' });
  });

  test('two of them do not know each other', async () => {
    const other = await acquire('kube-apiserver');
    const answer = await new Kubectl(other.env.KUBECONFIG as string).try(['get', 'configmap', 'kept']);
    await other.release();
    expect(answer.stderr).toContain('NotFound');
  });
});
