/** The folder in which clusterctl looks for a provider: components, what contract they meet, and templates of clusters. */
import { join } from 'node:path';
import type { KubeObject } from '../api/object.ts';
import { clusters } from '../api/resources.ts';
import { apiVersionOf } from '../kube/index.ts';
import { type ClusterWay, clusterWays } from '../provisioners/registry.ts';
import { type ManifestOptions, managerManifests } from './manifests.ts';

const CONTRACT = 'v1beta2';
/** Ways that need nothing but a name; the first is the template that is taken when none is named. */
const TEMPLATES = ['virtual', 'kind', 'k3d'];

/** Paths below the repository's folder, with the objects of each file. */
export function clusterctlRepository(version: string, options: ManifestOptions): Map<string, object[]> {
  const folder = join('infrastructure-rookery', `v${version}`);
  const [major, minor] = version.split('.').map(Number);
  const metadata = {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ major, minor, contract: CONTRACT }],
  };
  const files = new Map<string, object[]>([
    [join(folder, 'metadata.yaml'), [metadata]],
    [join(folder, 'infrastructure-components.yaml'), managerManifests(options)],
  ]);
  for (const way of clusterWays.filter(({ name }) => TEMPLATES.includes(name))) {
    const flavour = way.name === TEMPLATES[0] ? '' : `-${way.name}`;
    files.set(join(folder, `cluster-template${flavour}.yaml`), clusterTemplate(way));
  }
  return files;
}

/** A cluster of that way; clusterctl fills the names in. */
function clusterTemplate({ resource, spec }: ClusterWay): KubeObject[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: clusterctl's variables, not ours.
  const metadata = { name: '${CLUSTER_NAME}', namespace: '${NAMESPACE}' };
  const reference = { apiGroup: resource.group, kind: resource.kind, name: metadata.name };
  return [
    {
      apiVersion: apiVersionOf(clusters),
      kind: clusters.kind,
      metadata,
      spec: { infrastructureRef: reference, controlPlaneRef: reference },
    },
    // In the namespace `default` a cluster is called the same outside as here.
    {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata,
      spec: spec({}, { namespace: 'default', name: metadata.name }),
    },
  ];
}
