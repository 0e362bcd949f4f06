/** The object of most measurements: a ConfigMap of about 1 kB. */
import type { Client } from './client.ts';

export function configMap(name: string, version = 0): object {
  const text = `${version} `.padEnd(900, 'lorem ipsum dolor sit amet ');
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } };
}

export const configMapsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

export async function makeNamespace(client: Client, name: string): Promise<void> {
  await client.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}
