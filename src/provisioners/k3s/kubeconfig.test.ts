import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { kubeconfigFor } from './kubeconfig.ts';

const written = (user: object) =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'default',
    clusters: [
      { name: 'default', cluster: { server: 'https://127.0.0.1:6443', 'certificate-authority-data': 'Q0E=' } },
    ],
    users: [{ name: 'default', user }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
  });

it('is the one that k3s wrote, with another address', async () => {
  const text = await kubeconfigFor(written({ 'client-key-data': 'S0VZ' }), 'root@10.0.0.7:22', 'https://10.0.0.7:6443');
  const name = 'k3s-root-10.0.0.7-22';
  expect(parse(text)).toMatchObject({
    'current-context': name,
    clusters: [{ name, cluster: { server: 'https://10.0.0.7:6443', 'certificate-authority-data': 'Q0E=' } }],
    users: [{ name, user: { 'client-key-data': 'S0VZ' } }],
  });
});

it.each([{ exec: { command: '/bin/touch', args: ['/tmp/owned'] } }, { tokenFile: '/root/.rookery/keys.json' }])(
  'is refused when the machine wrote %o into it',
  async (user) => {
    await expect(kubeconfigFor(written(user), 'x', 'https://10.0.0.7:6443')).rejects.toMatchObject({
      code: 'KUBECONFIG_REFUSED',
    });
  },
);
