import { expect, it } from 'vitest';
import type { ObjectStore } from '../../kube/index.ts';
import { k3sWay } from './way.ts';

const key = { namespace: 'default', name: 'edge' };
const target = (host: string) => (k3sWay.spec({ host }, key) as { host: { ssh: object } }).host.ssh;
const object = (host: object) => ({ metadata: { name: 'edge', namespace: 'lab' }, spec: { host } }) as never;

it('a wish names the machine as people write it', () => {
  const keySecretRef = { name: 'edge-ssh-key' };
  expect(target('10.0.0.7')).toEqual({ address: '10.0.0.7', keySecretRef });
  expect(target('admin@lab.example.org:2222')).toEqual({
    user: 'admin',
    address: 'lab.example.org',
    port: 2222,
    keySecretRef,
  });
  expect(target('root@[2001:db8::7]:22')).toEqual({ user: 'root', address: '2001:db8::7', port: 22, keySecretRef });
  expect(target('2001:db8::7')).toEqual({ address: '2001:db8::7', keySecretRef });
  expect(() => target('a b@')).toThrow('names no machine');
  expect(() => k3sWay.spec({ nodes: 3 }, key)).toThrow('more than one node');
});

it('a wish without a machine names none', () => {
  expect(k3sWay.spec({ kubernetesVersion: '1.35' }, key)).toEqual({ kubernetesVersion: '1.35' });
});

it('one machine is one name, whoever logs in there', () => {
  const named = (host: object) => k3sWay.outsideName(object(host));
  expect(named({ ssh: { address: '10.0.0.7', user: 'a' } })).toBe(
    named({ ssh: { address: '10.0.0.7', port: 22, user: 'b' } }),
  );
  expect(named({ ssh: { address: '10.0.0.7', port: 23 } })).toBe('10.0.0.7:23');
  expect(named({})).toBe(named({ local: true }));
});

it('the key is read from the Secret in the namespace of the object', async () => {
  const asked: unknown[] = [];
  const store = {
    get: async (_resource: unknown, name: unknown) => {
      asked.push(name);
      return { data: { 'ssh-privatekey': Buffer.from('the key').toString('base64') } };
    },
  } as unknown as ObjectStore;
  const ssh = { address: '10.0.0.7', keySecretRef: { name: 'edge-ssh-key', key: 'ssh-privatekey' } };
  expect(await k3sWay.access?.(store, object({ ssh }))).toEqual({ sshKey: 'the key' });
  expect(asked).toEqual([{ namespace: 'lab', name: 'edge-ssh-key' }]);
  expect(await k3sWay.access?.(store, object({ local: true }))).toEqual({});
});
