// Images: each recipe lays files out, and the archive writer turns them into something any engine can load.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildContext } from './context.ts';

export type Recipe = (context: BuildContext) => Promise<Record<string, string>>;

const recipes: Record<string, () => Promise<Recipe>> = {
  'node-image': async () => (await import('../images/node-image.ts')).nodeImage('kubernetes'),
  'node-image-previous': async () => (await import('../images/node-image.ts')).nodeImage('kubernetes-previous'),
  'k3d-proxy-image': async () => (await import('../images/k3d-proxy-image.ts')).k3dProxyImage,
  'kind-balancer-image': async () => (await import('../images/kind-balancer-image.ts')).kindBalancerImage,
  'k3s-image': async () => (await import('../images/k3s-image.ts')).k3sImage,
  'k3s-upgrade-images': async () => (await import('../images/k3s-upgrade-images.ts')).k3sUpgradeImages,
  'vcluster-images': async () => (await import('../images/vcluster-images.ts')).vclusterImages,
  'workspace-image': async () => (await import('../images/workspace-image.ts')).workspaceImage,
};

/** Beside the archive stands which tags it holds and the id of each, so that a loaded image is known without loading it. */
export const tagsFile = 'tags.json';

export async function buildImage(context: BuildContext): Promise<void> {
  if (context.part.source.from !== 'image') throw new Error(`${context.part.name} is not an image`);
  const make = recipes[context.part.source.recipe];
  if (!make) throw new Error(`no recipe named ${context.part.source.recipe}`);
  const ids = await (await make())(context);
  writeFileSync(join(context.output, tagsFile), `${JSON.stringify(ids, null, 2)}\n`);
  Object.assign(context.resolved, ids);
}
