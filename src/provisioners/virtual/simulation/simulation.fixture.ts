/** For tests: a cluster on the real store and operations, with the simulation, two nodes and a clock set by hand. */
import type { KubeObject } from '../../../api/object.ts';
import { namespaceDefaults } from '../../../apiserver/loops/namespace-defaults.ts';
import { namespace, TestCluster } from '../../../apiserver/loops/testing/test-cluster.ts';
import { simulation } from './index.ts';
import { simulatedNode } from './nodes/simulated-node.ts';

export class VirtualTestCluster extends TestCluster {
  static async start(nodes = 2): Promise<VirtualTestCluster> {
    const cluster = new VirtualTestCluster();
    cluster.start(namespaceDefaults);
    cluster.restart();
    await cluster.create(namespace('default'));
    await cluster.until(() => cluster.all('ServiceAccount', 'v1').length > 0);
    for (let index = 0; index < nodes; index++) await cluster.create(simulatedNode('t', 'node', index));
    await cluster.until(() =>
      cluster.all('Node', 'v1').every(({ spec, status }) => !spec.taints && status?.conditions),
    );
    return cluster;
  }

  #stop = () => {};

  /** As if the tenant had slept. */
  restart(): void {
    this.#stop();
    this.#stop = this.start(simulation);
  }

  all(kind: string, apiVersion: string): KubeObject[] {
    return this.context.operations.listAll(this.resource({ apiVersion, kind }));
  }

  get pods(): KubeObject[] {
    return this.all('Pod', 'v1');
  }

  pod(name: string): KubeObject | undefined {
    return this.get(pod(name));
  }

  /** The pod when it has come so far. */
  async podWhen(name: string, is: (pod: KubeObject) => boolean): Promise<KubeObject> {
    await this.until(() => {
      const found = this.pod(name);
      return found !== undefined && is(found);
    }, `${name}: ${is}`);
    return this.pod(name) as KubeObject;
  }

  async phase(name: string, phase: string): Promise<KubeObject> {
    return this.podWhen(name, ({ status }) => status?.phase === phase);
  }
}

export function pod(name: string, spec: object = {}, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { containers: [{ name: 'c', image: 'nginx' }], ...spec },
  };
}

export function asking(cpu: string) {
  return { containers: [{ name: 'c', image: 'nginx', resources: { requests: { cpu } } }] };
}

export function deployment(name: string, replicas: number, spec: object = {}): KubeObject {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx:1' }] } },
      ...spec,
    },
  };
}

export function message(found: KubeObject | undefined, type: string): string {
  return found?.status?.conditions?.find((c: { type: string }) => c.type === type)?.message ?? '';
}
