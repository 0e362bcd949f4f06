/** Kubeconfigs we hand out: one cluster, one user, one context, never merged into anyone's default file. */
export interface KubeconfigParts {
  name: string;
  server: string;
  /** What TLS calls the server, where that is not the host of its address. */
  serverName?: string;
  caPem: string;
  token: string;
}

/** Written by hand: values are quoted as JSON, which is YAML, and no emitter has to be loaded. */
export function kubeconfigText({ name, server, serverName, caPem, token }: KubeconfigParts): string {
  const user = `${name}-admin`;
  const lines = [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    `- name: ${quoted(name)}`,
    '  cluster:',
    `    server: ${quoted(server)}`,
    ...(serverName ? [`    tls-server-name: ${quoted(serverName)}`] : []),
    `    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}`,
    'users:',
    `- name: ${quoted(user)}`,
    '  user:',
    `    token: ${quoted(token)}`,
    'contexts:',
    `- name: ${quoted(name)}`,
    '  context:',
    `    cluster: ${quoted(name)}`,
    `    user: ${quoted(user)}`,
    `current-context: ${quoted(name)}`,
    '',
  ];
  return lines.join('\n');
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
