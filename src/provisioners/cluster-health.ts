/**
 * Whether a cluster can be used, asked of the cluster itself and not of the tool that made it (DESIGN 5, rule 4): `/readyz`, nodes,
 * cluster DNS, the default ServiceAccount.
 */
import { Agent, request } from 'node:https';
import { type Connection, kubeconfigConnection, type Place } from '../kube/index.ts';
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
  /** Where its API server may be. */
  place: Place;
}

export type HealthProbe = (
  kubeconfig: string,
  expected: HealthExpectation,
  signal?: AbortSignal,
) => Promise<ClusterHealth>;

const TIMEOUT_MS = 5000;
/** What was well is believed for this long while something else is missing. */
const BELIEVED_MS = 2000;
/** Connections to clusters that come up, newest last: each question with a handshake of its own slows down what is waited for. */
const COMING_UP_MAX = 32;
const DNS_PATH = '/apis/apps/v1/namespaces/kube-system/deployments';
const ROLE_LABEL = 'node-role.kubernetes.io/';

interface ComingUp {
  connection: Connection;
  agent: Agent;
  /** Of a cluster whose API answers. */
  answers?: Answers;
  askedAt: number;
}

const comingUp = new Map<string, ComingUp>();

export const probeHealth: HealthProbe = async (kubeconfig, expected, signal) => {
  const key = `${JSON.stringify(expected.place)} ${kubeconfig}`;
  const cluster = comingUp.get(key) ?? (await connect(kubeconfig, expected.place));
  comingUp.delete(key);
  try {
    const health = await ask(cluster, expected, signal);
    if (health.missing.length > 0) remember(key, cluster);
    else cluster.agent.destroy();
    return health;
  } catch (error) {
    cluster.agent.destroy();
    signal?.throwIfAborted();
    const { server } = cluster.connection;
    return { nodes: [], missing: [`the API server at ${server} does not answer (${(error as Error).message})`] };
  }
};

async function connect(kubeconfig: string, place: Place): Promise<ComingUp> {
  const connection = await kubeconfigConnection(kubeconfig, place);
  const agent = new Agent({
    keepAlive: true,
    // Of a connection that nobody asks anything.
    timeout: 2 * TIMEOUT_MS,
    ca: connection.ca,
    cert: connection.cert,
    key: connection.key,
    servername: connection.serverName,
    ...(connection.lookup ? { lookup: connection.lookup } : {}),
  });
  return { connection, agent, askedAt: Number.NEGATIVE_INFINITY };
}

function remember(key: string, cluster: ComingUp): void {
  comingUp.get(key)?.agent.destroy();
  comingUp.set(key, cluster);
  const [oldest] = comingUp;
  if (!oldest || comingUp.size <= COMING_UP_MAX) return;
  comingUp.delete(oldest[0]);
  oldest[1].agent.destroy();
}

async function ask(cluster: ComingUp, expected: HealthExpectation, signal?: AbortSignal): Promise<ClusterHealth> {
  const get = (path: string) => fetchText(cluster, path, signal);
  const { answers } = cluster;
  cluster.answers = undefined;
  if (answers && performance.now() - cluster.askedAt < BELIEVED_MS) {
    const parts = new Set(missingParts(expected, answers).map(({ part }) => part));
    const again = await Promise.all([...parts].map(async (part) => [part, await get(pathOf(part, expected))] as const));
    const known = { ...answers, ...Object.fromEntries(again) };
    const health = summary(expected, known);
    if (health.missing.length > 0) {
      cluster.answers = known;
      return health;
    }
  }
  const ready = await get('/readyz');
  if (ready.status !== 200) {
    return { nodes: [], missing: [`the API server is not ready (${ready.status}: ${firstLine(ready.body)})`] };
  }
  const all = await Promise.all(PARTS.map(async (part) => [part, await get(pathOf(part, expected))] as const));
  cluster.answers = Object.fromEntries(all) as Answers;
  cluster.askedAt = performance.now();
  return summary(expected, cluster.answers);
}

const PARTS = ['version', 'nodes', 'dns', 'account'] as const;
type Part = (typeof PARTS)[number];
type Answers = Record<Part, Answer>;

function pathOf(part: Part, expected: HealthExpectation): string {
  switch (part) {
    case 'version':
      return '/version';
    case 'nodes':
      return '/api/v1/nodes';
    case 'dns':
      return `${DNS_PATH}?labelSelector=${encodeURIComponent(expected.dnsLabel ?? 'k8s-app=kube-dns')}`;
    case 'account':
      return '/api/v1/namespaces/default/serviceaccounts/default';
  }
}

function summary(expected: HealthExpectation, answers: Answers): ClusterHealth {
  return {
    version: parsed<{ gitVersion?: string }>(answers.version)?.gitVersion,
    nodes: nodesIn(answers).map(observed),
    missing: missingParts(expected, answers).map(({ what }) => what),
  };
}

function missingParts(expected: HealthExpectation, answers: Answers): { part: Part; what: string }[] {
  const nodes = nodesIn(answers);
  const missing: { part: Part; what: string }[] = [];
  const registered = `${nodes.length} of ${expected.nodes} nodes have registered`;
  if (nodes.length < expected.nodes) missing.push({ part: 'nodes', what: registered });
  if (expected.hasNetwork) {
    const unready = nodes.filter((node) => !isReady(node)).map((node) => `${node.metadata.name}${whyNot(node)}`);
    if (unready.length > 0) missing.push({ part: 'nodes', what: `nodes not Ready: ${unready.join(', ')}` });
    const deployments = parsed<{ items?: { status?: { availableReplicas?: number } }[] }>(answers.dns)?.items ?? [];
    if (expected.hasDns !== false && !deployments.some((d) => (d.status?.availableReplicas ?? 0) > 0))
      missing.push({ part: 'dns', what: 'cluster DNS is not available' });
  }
  if (answers.account.status !== 200)
    missing.push({ part: 'account', what: 'the default ServiceAccount does not exist' });
  return missing;
}

function nodesIn(answers: Answers): NodeObject[] {
  return parsed<{ items?: NodeObject[] }>(answers.nodes)?.items ?? [];
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

function fetchText({ connection, agent }: ComingUp, path: string, signal?: AbortSignal): Promise<Answer> {
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
