import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { systemClock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { ConnectionError, KubeError } from '../../kube/index.ts';
import { HostClusters, hostError } from './host-clusters.ts';

const kubeconfig = (user: object, cluster: object = {}) =>
  stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://192.0.2.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  });

it('opens one connection for each kubeconfig', async () => {
  const hosts = new HostClusters(systemClock);
  const first = await hosts.of({ access: { kubeconfig: kubeconfig({ token: 'a' }) } });
  expect(await hosts.of({ access: { kubeconfig: kubeconfig({ token: 'a' }) } })).toBe(first);
  expect(await hosts.of({ access: { kubeconfig: kubeconfig({ token: 'b' }) } })).not.toBe(first);
});

it.each([
  ['exec', kubeconfig({ exec: { command: 'touch' } })],
  ['tokenFile', kubeconfig({ tokenFile: '/etc/passwd' })],
  ['client-key', kubeconfig({ 'client-key': '/root/key' })],
  ['certificate-authority', kubeconfig({}, { 'certificate-authority': '/etc/ca' })],
])('runs no program and reads no file for a kubeconfig out of a Secret: %s', async (field, text) => {
  const opening = new HostClusters(systemClock).of({ access: { kubeconfig: text } });
  await expect(opening).rejects.toMatchObject({ code: 'host.kubeconfig', message: expect.stringContaining(field) });
});

it('says why there is no kubeconfig', async () => {
  const hosts = new HostClusters(systemClock);
  await expect(hosts.of({ access: { missing: 'the Secret is not there yet' } })).rejects.toThrow('the Secret is not');
  await expect(hosts.of({ access: { kubeconfig: '{ nonsense' } })).rejects.toMatchObject({ code: 'host.kubeconfig' });
});

const refusal = (code: number, message: string) => new KubeError({ code, message });
it.each([
  [new ConnectionError('connect ECONNREFUSED'), 'host.unreachable'],
  [refusal(503, 'not now'), 'host.unreachable'],
  [refusal(401, 'Unauthorized'), 'host.unauthorized'],
  [
    refusal(403, 'roles "x" is forbidden: user "u" is attempting to grant RBAC permissions not currently held'),
    'host.roles',
  ],
  [refusal(403, 'pods "x" is forbidden: exceeded quota: q'), 'host.quota'],
  [refusal(403, 'unable to create new content in namespace x because it is being terminated'), 'host.terminating'],
  [refusal(403, 'secrets is forbidden'), 'host.forbidden'],
  [refusal(422, 'Service "x" is invalid'), 'host.invalid'],
  [refusal(409, 'the object has been modified'), 'host.conflict'],
])('tells troubles apart: %s', (error, code) => {
  const known = hostError(error) as RookeryError;
  expect(known).toBeInstanceOf(RookeryError);
  expect(known).toMatchObject({ code, class: 'retryable' });
  expect(known.hint).toBeTruthy();
});

it('leaves errors alone that are not about the host', () => {
  const error = new TypeError('a mistake');
  expect(hostError(error)).toBe(error);
});
