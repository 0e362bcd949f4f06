// What must be true of any real cluster, whoever made it.
import { expect } from 'vitest';
import { waitFor } from '../../bed/process.ts';
import type { Kubectl } from './kubectl.ts';
import { claim, pod, service } from './workload.ts';

export async function podRuns(kubectl: Kubectl): Promise<void> {
  await kubectl.apply(pod('hello'));
  await kubectl.untilPodReady('hello');
  expect(await kubectl.exec('hello', 'hostname')).toBe('hello\n');
  expect(await kubectl.run('logs', 'hello')).toBe('');
  await kubectl.run('delete', 'pod', 'hello', '--wait=true');
}

/** A pod on each node; each reaches the other by address, and both through one Service by name. */
export async function networkWorks(kubectl: Kubectl, nodes: readonly [string, string]): Promise<void> {
  const [first, second] = nodes;
  await kubectl.apply(
    pod('left', { node: first, labels: { app: 'pair' } }),
    pod('right', { node: second, labels: { app: 'pair' } }),
    service('pair', { app: 'pair' }),
  );
  const left = await kubectl.untilPodReady('left');
  const right = await kubectl.untilPodReady('right');
  expect([left.spec.nodeName, right.spec.nodeName]).toEqual([first, second]);
  // Not wget's own -T: Debian's busybox crashes on it.
  const fetch = (from: string, url: string): Promise<string> =>
    waitFor(`${url} from ${from}`, 30_000, async () =>
      kubectl.exec(from, 'timeout', '5', 'wget', '-q', '-O', '-', url),
    );
  expect(await fetch('left', `http://${right.status.podIP}:8080/`)).toBe('right\n');
  expect(await fetch('right', `http://${left.status.podIP}:8080/`)).toBe('left\n');
  // Two endpoints, so that kube-proxy's statistic match is used: without its library ClusterIPs fail silently.
  const seen = new Set<string>();
  for (let i = 0; i < 40 && seen.size < 2; i++)
    seen.add((await fetch('left', 'http://pair.default.svc.cluster.local/')).trim());
  expect([...seen].sort()).toEqual(['left', 'right']);
  await kubectl.run('delete', 'pod/left', 'pod/right', 'service/pair');
}

export async function dnsWorks(kubectl: Kubectl, image?: string): Promise<void> {
  await kubectl.apply(pod('asker', { command: ['sleep', '3600'], ...(image ? { image } : {}) }));
  await kubectl.untilPodReady('asker');
  const answer = await waitFor(
    'DNS',
    60_000,
    () => kubectl.exec('asker', 'nslookup', 'kubernetes.default.svc.cluster.local'),
    1000,
  );
  const address = (await kubectl.get<{ spec: { clusterIP: string } }>('service', 'kubernetes')).spec.clusterIP;
  expect(answer).toContain(address);
  await kubectl.run('delete', 'pod', 'asker');
}

/** Written by one pod, read by the next: the claim is bound and outlives its first user. */
export async function volumeKeeps(kubectl: Kubectl): Promise<void> {
  await kubectl.apply(
    claim('data'),
    pod('writer', { claim: 'data', command: ['sh', '-c', 'echo kept > /data/file && sleep 3600'] }),
  );
  await kubectl.untilPodReady('writer');
  await waitFor('the file', 20_000, async () => (await kubectl.exec('writer', 'cat', '/data/file')) === 'kept\n');
  await kubectl.run('delete', 'pod', 'writer');
  await kubectl.apply(pod('reader', { claim: 'data', command: ['sleep', '3600'] }));
  await kubectl.untilPodReady('reader');
  expect(await kubectl.exec('reader', 'cat', '/data/file')).toBe('kept\n');
  await kubectl.run('delete', 'pod/reader', 'pvc/data', '--wait=true');
  await waitFor(
    'the volume to be gone',
    60_000,
    async () => (await kubectl.run('get', 'pv', '-o', 'name')).trim() === '',
    500,
  );
}
