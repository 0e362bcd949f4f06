// The images of a vcluster in the nodes of its host, under the names they are pulled by where there is a registry.
import { kubernetesVersion, vclusterVersion } from '../../bed/versions.ts';
import type { Engine } from './engine.ts';

const REGISTRY = 'ghcr.io';
/** What vcluster takes for Kubernetes 1.35. */
const DNS = 'docker.io/coredns/coredns:1.14.1';

export async function loadVclusterImages(docker: Engine, node: string): Promise<void> {
  const names = [`loft-sh/vcluster-oss:${vclusterVersion}`, `loft-sh/kubernetes:${kubernetesVersion}`];
  const ctr = 'ctr -n k8s.io images';
  await docker.run('sh', '-c', `docker save ${names.join(' ')} | docker exec -i ${node} ${ctr} import --no-unpack -`);
  const listed = (await docker.docker('exec', node, 'sh', '-c', `${ctr} ls -q`)).split('\n');
  const dns = listed.find((name) => /coredns:v?\d/.test(name));
  if (!dns) throw new Error(`no image of CoreDNS in ${node}: ${listed.join(' ')}`);
  const tags = [...names.map((name) => [`docker.io/${name}`, `${REGISTRY}/${name}`]), [dns, DNS]];
  for (const [from, to] of tags) await docker.docker('exec', node, 'sh', '-c', `${ctr} tag --force ${from} ${to}`);
}
