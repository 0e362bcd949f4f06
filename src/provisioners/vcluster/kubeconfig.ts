/** The kubeconfig of a vcluster, from the Secret `vc-<name>` it writes once it runs, for the address it is used from. */
import { stringify } from 'yaml';
import type { KubeObject } from '../../api/object.ts';
import type { Endpoint } from './reach.ts';

export function kubeconfigFor(name: string, secret: KubeObject, endpoint: Endpoint): string | undefined {
  const data = (secret.data ?? {}) as Record<string, string | undefined>;
  const ca = data['certificate-authority'];
  const user = given({
    'client-certificate-data': data['client-certificate'],
    'client-key-data': data['client-key'],
    token: data.token && Buffer.from(data.token, 'base64').toString(),
  });
  if (!ca || Object.keys(user).length === 0) return undefined;
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const server = `https://${host}${endpoint.port === 443 ? '' : `:${endpoint.port}`}`;
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}

function given(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => Boolean(entry[1])));
}
