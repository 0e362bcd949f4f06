/**
 * Whether a cluster can be used, asked of the cluster itself and not of the tool that made it (DESIGN 5, rule 4): `/readyz`, nodes,
 * cluster DNS, the default ServiceAccount.
 */
import { Agent, request } from 'node:https';
import { type Connection, loadKubeconfig } from '../kube/index.ts';
import type { ObservedNode } from './provisioner.ts';

export interface ClusterHealth {
  version?: string;
  nodes: ObservedNode[];
  /** What is not there yet, one sentence each; empty means usable. */
  missing: string[];
}

export interface HealthExpectation {
  nodes: number;
  /** False for a cluster without a network plug-in: its nodes cannot be Ready and its DNS cannot run. */
  hasNetwork: boolean;
  /** Label of the deployment that answers names; `k8s-app=kube-dns` where nothing else is said. */
  dnsLabel?: string;
  /** False where cluster DNS is switched off. */
  hasDns?: boolean;
}

export type HealthProbe = (
  kubeconfig: string,
  expected: HealthExpectation,
  signal?: AbortSignal,
) => Promise<ClusterHealth>;

const TIMEOUT_MS = 5000;
const DNS_PATH = '/apis/apps/v1/namespaces/kube-system/deployments';
const ROLE_LABEL = 'node-role.kubernetes.io/';

export const probeHealth: HealthProbe = async (kubeconfig, expected, signal) => {
  const connection = await loadKubeconfig({ data: kubeconfig });
  const agent = new Agent({
    keepAlive: true,
    ca: connection.ca,
    cert: connection.cert,
    key: connection.key,
    servername: connection.serverName,
    rejectUnauthorized: !connection.insecure,
  });
  const get = (path: string) => fetchText(connection, agent, path, signal);
  try {
    const ready = await get('/readyz');
    if (ready.status !== 200) {
      return { nodes: [], missing: [`the API server is not ready (${ready.status}: ${firstLine(ready.body)})`] };
    }
    const [version, nodes, dns, account] = await Promise.all([
      get('/version'),
      get('/api/v1/nodes'),
      get(`${DNS_PATH}?labelSelector=${encodeURIComponent(expected.dnsLabel ?? 'k8s-app=kube-dns')}`),
      get('/api/v1/namespaces/default/serviceaccounts/default'),
    ]);
    return summary(expected, { version, nodes, dns, account });
  } catch (error) {
    signal?.throwIfAborted();
    return {
      nodes: [],
      missing: [`the API server at ${connection.server} does not answer (${(error as Error).message})`],
    };
  } finally {
    agent.destroy();
  }
};

function summary(
  expected: HealthExpectation,
  answers: Record<'version' | 'nodes' | 'dns' | 'account', Answer>,
): ClusterHealth {
  const items = parsed<{ items?: NodeObject[] }>(answers.nodes)?.items ?? [];
  const nodes = items.map(observed);
  const missing: string[] = [];
  if (nodes.length < expected.nodes) missing.push(`${nodes.length} of ${expected.nodes} nodes have registered`);
  if (expected.hasNetwork) {
    const unready = items.filter((node) => !isReady(node)).map((node) => `${node.metadata.name}${whyNot(node)}`);
    if (unready.length > 0) missing.push(`nodes not Ready: ${unready.join(', ')}`);
    const deployments = parsed<{ items?: { status?: { availableReplicas?: number } }[] }>(answers.dns)?.items ?? [];
    if (expected.hasDns !== false && !deployments.some((d) => (d.status?.availableReplicas ?? 0) > 0))
      missing.push('cluster DNS is not available');
  }
  if (answers.account.status !== 200) missing.push('the default ServiceAccount does not exist');
  return { version: parsed<{ gitVersion?: string }>(answers.version)?.gitVersion, nodes, missing };
}

interface NodeObject {
  metadata: { name: string; labels?: Record<string, string> };
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

function observed(node: NodeObject): ObservedNode {
  const role = Object.keys(node.metadata.labels ?? {}).find((label) => label.startsWith(ROLE_LABEL));
  return {
    name: node.metadata.name,
    role: role?.slice(ROLE_LABEL.length) ?? 'worker',
    ready: isReady(node),
  };
}

function isReady(node: NodeObject): boolean {
  return (node.status?.conditions ?? []).some((c) => c.type === 'Ready' && c.status === 'True');
}

function whyNot(node: NodeObject): string {
  const message = node.status?.conditions?.find((c) => c.type === 'Ready')?.message;
  return message ? ` (${message.slice(0, 200)})` : '';
}

interface Answer {
  status: number;
  body: string;
}

function fetchText(connection: Connection, agent: Agent, path: string, signal?: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    void (async () => {
      const headers = await connection.headers?.();
      const call = request(
        `${connection.server}${path}`,
        { agent, headers, signal, timeout: TIMEOUT_MS },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (text: string) => {
            body += text;
          });
          response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
          response.on('error', reject);
        },
      );
      call.on('timeout', () => call.destroy(new Error(`no answer in ${TIMEOUT_MS / 1000} s`)));
      call.on('error', reject);
      call.end();
    })().catch(reject);
  });
}

function parsed<T>(answer: Answer): T | undefined {
  return answer.status === 200 ? (JSON.parse(answer.body) as T) : undefined;
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.slice(0, 200) || 'no text';
}
