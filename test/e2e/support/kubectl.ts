// kubectl against one kubeconfig, with waits that say what was last seen.
import { program } from '../../bed/environment.ts';
import { type RunResult, run, tryRun, waitFor } from '../../bed/process.ts';

interface Listed<T> {
  readonly items: T[];
}
export interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status: {
    readonly conditions?: { readonly type: string; readonly status: string }[];
    readonly nodeInfo: { readonly kubeletVersion: string };
  };
}
export interface PodObject {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions?: { readonly type: string; readonly status: string }[];
  };
}

export class Kubectl {
  readonly kubeconfig: string;

  constructor(kubeconfig: string) {
    this.kubeconfig = kubeconfig;
  }

  try(args: readonly string[], input?: string): Promise<RunResult> {
    return tryRun(
      program('kubernetes', 'kubectl'),
      ['--kubeconfig', this.kubeconfig, '--request-timeout=20s', ...args],
      { timeoutMs: 60_000, ...(input === undefined ? {} : { input }) },
    );
  }

  run(...args: string[]): Promise<string> {
    return run(program('kubernetes', 'kubectl'), ['--kubeconfig', this.kubeconfig, ...args], { timeoutMs: 120_000 });
  }

  async apply(...objects: object[]): Promise<void> {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await run(program('kubernetes', 'kubectl'), ['--kubeconfig', this.kubeconfig, 'apply', '-f', '-'], {
      input,
      timeoutMs: 60_000,
    });
  }

  async get<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.run('get', ...args, '-o', 'json')) as T;
  }

  async nodes(): Promise<NodeObject[]> {
    return (await this.get<Listed<NodeObject>>('nodes')).items;
  }

  async pods(...args: string[]): Promise<PodObject[]> {
    return (await this.get<Listed<PodObject>>('pods', ...args)).items;
  }

  exec(pod: string, ...command: string[]): Promise<string> {
    return this.run('exec', pod, '--', ...command);
  }

  /** Our own idea of a usable cluster: every expected node Ready, cluster DNS available, the default account there. */
  async untilReady(nodes: number, timeoutMs = 120_000): Promise<void> {
    await waitFor(`${nodes} nodes Ready`, timeoutMs, async () => {
      const found = await this.nodes();
      const ready = found.filter((node) =>
        node.status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
      );
      if (ready.length < nodes) throw new Error(`${ready.length} of ${found.length} nodes are Ready`);
      return true;
    });
    await this.untilAvailable('coredns', 'kube-system', timeoutMs);
    await waitFor(
      'the default ServiceAccount',
      timeoutMs,
      async () => (await this.try(['get', 'serviceaccount', 'default'])).code === 0,
    );
  }

  async untilAvailable(deployment: string, namespace = 'default', timeoutMs = 120_000): Promise<void> {
    await waitFor(
      `deployment ${namespace}/${deployment}`,
      timeoutMs,
      async () => (await this.try(['get', 'deployment', deployment, '-n', namespace])).code === 0,
    );
    await this.run(
      'rollout',
      'status',
      `deployment/${deployment}`,
      '-n',
      namespace,
      `--timeout=${Math.round(timeoutMs / 1000)}s`,
    );
  }

  async untilPodReady(name: string, timeoutMs = 120_000): Promise<PodObject> {
    return waitFor(`pod ${name}`, timeoutMs, async () => {
      const pod = await this.get<PodObject>('pod', name);
      if (pod.status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'))
        return pod;
      throw new Error(`pod is ${pod.status.phase}`);
    });
  }
}
