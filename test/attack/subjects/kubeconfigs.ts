/** Kubeconfigs that others wrote: they may name a server and a credential, and nothing else. */
import { existsSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Attack, held, type Subject } from '../attack.ts';
import { done, NAMESPACE, named, type Scene } from '../scene.ts';

interface Trap {
  /** Exists once a program of the attacker ran. */
  mark: string;
  /** Where the listener of the attacker is, and what it heard. */
  url: string;
  heard: string[];
}

interface Kubeconfig {
  cluster?: object;
  user: object;
}

/** The Cluster exists and its kubeconfig is the attacker's; the core connects with it by itself. */
async function offered(scene: Scene, kubeconfig: (trap: Trap) => Kubeconfig): Promise<void> {
  const heard: string[] = [];
  const listener: Server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    response.end('{}');
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const mark = join(tmpdir(), `rookery-attack-kubeconfig-${scene.pid()}`);
  const { cluster, user } = kubeconfig({ mark, url, heard });
  const value = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: url, ...cluster } }],
    users: [{ name: 'x', user }],
  };
  const clusters = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${NAMESPACE}/clusters`;
  const machines = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${NAMESPACE}/machines`;
  const secrets = `/api/v1/namespaces/${NAMESPACE}/secrets`;
  try {
    await done(
      scene.root.http.post(secrets, {
        ...named('v1', 'Secret', 'trap-kubeconfig'),
        metadata: { name: 'trap-kubeconfig', labels: { 'cluster.x-k8s.io/cluster-name': 'trap' } },
        type: 'cluster.x-k8s.io/secret',
        stringData: { value: JSON.stringify(value) },
      }),
    );
    await done(
      scene.root.http.post(clusters, {
        ...named('cluster.x-k8s.io/v1beta2', 'Cluster', 'trap'),
        spec: { controlPlaneEndpoint: { host: '127.0.0.1', port: Number(new URL(url).port) } },
      }),
    );
    // What people do next with a cluster that is not ready.
    await scene.rookery.run('why', 'cluster/trap', '--namespace', NAMESPACE);
    await scene.rookery.run('cluster', 'get', 'trap', '--namespace', NAMESPACE);
    await delay(2_000);
    held(!existsSync(mark), 'a program of the attacker ran');
    held(heard.length === 0, `the attacker's listener heard ${heard.join('; ').slice(0, 300)}`);
  } finally {
    await scene.root.http.delete(`${clusters}/trap`);
    await scene.root.http.delete(`${machines}/trap`);
    await scene.root.http.delete(`${secrets}/trap-kubeconfig`);
    rmSync(mark, { force: true });
    listener.close();
  }
}

function offers(name: string, kubeconfig: (trap: Trap) => Kubeconfig): Attack {
  return { name: `stores a kubeconfig that ${name}`, run: (scene) => offered(scene, kubeconfig) };
}

export const kubeconfigs: Subject = {
  name: 'kubeconfigs',
  attacks: [
    offers('runs a program', ({ mark }) => ({
      user: {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: 'touch',
          args: [mark],
          interactiveMode: 'Never',
        },
      },
    })),
    offers('uses an old auth provider', ({ mark }) => ({
      user: { 'auth-provider': { name: 'gcp', config: { 'cmd-path': 'touch', 'cmd-args': mark } } },
    })),
    offers('sends a file of the host as its token', () => ({ user: { tokenFile: '/etc/hostname' } })),
    offers('names files as client certificate and key', () => ({
      user: { 'client-certificate': '/etc/hostname', 'client-key': '/etc/hostname' },
    })),
    offers('names a proxy', ({ url }) => ({
      cluster: { server: 'https://192.0.2.1', 'proxy-url': url },
      user: { token: 'x' },
    })),
    offers('has a server without TLS', () => ({ user: { token: 'x' } })),
    offers('checks no certificate', ({ url }) => ({
      cluster: { server: url.replace('http:', 'https:'), 'insecure-skip-tls-verify': true },
      user: { token: 'x' },
    })),
  ],
};
