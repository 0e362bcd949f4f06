/** The kubeconfig that k3s writes, for use elsewhere: another address, and names that can live beside others. */
import { parse, stringify } from 'yaml';

interface Kubeconfig {
  clusters: { name: string; cluster: Record<string, unknown> }[];
  users: { name: string; user: unknown }[];
  contexts: { name: string; context: unknown }[];
  'current-context': string;
}

export function kubeconfigFor(written: string, name: string, server: string): string {
  const config = parse(written) as Kubeconfig;
  const title = `k3s-${name.replace(/[^\w.-]+/g, '-')}`;
  const [cluster] = config.clusters;
  const [user] = config.users;
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: title, cluster: { ...cluster?.cluster, server } }],
    users: [{ name: title, user: user?.user }],
    contexts: [{ name: title, context: { cluster: title, user: title } }],
    'current-context': title,
  });
}
