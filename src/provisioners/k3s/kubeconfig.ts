/** The kubeconfig that k3s writes, for use elsewhere: another address, and names that can live beside others. The machine's word is not trusted further than that. */
import { harmlessKubeconfig } from '../../kube/index.ts';

export function kubeconfigFor(written: string, name: string, server: string): Promise<string> {
  return harmlessKubeconfig(written, { name: `k3s-${name.replace(/[^\w.-]+/g, '-')}`, server });
}
