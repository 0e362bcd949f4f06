/** A machine with k3d and Docker made of files and shell scripts. */
import { fileURLToPath } from 'node:url';
import { FakeEngine } from '../../docker-cluster/testing/fake-engine.ts';
import { K3dProvisioner, type K3dProvisionerOptions } from '../k3d-provisioner.ts';

export class FakeWorld extends FakeEngine {
  /** Node objects of the cluster beside those of its containers. */
  readonly staleNodes = new Set<string>();

  constructor() {
    super(fileURLToPath(new URL('./bin', import.meta.url)), 'v1.35.0+k3s1');
  }

  provisioner(options: Partial<K3dProvisionerOptions> = {}): K3dProvisioner {
    return new K3dProvisioner({
      ...this.options(options),
      forgetNodes: async (_kubeconfig, isGone) => {
        const gone = [...this.staleNodes].filter(isGone);
        for (const node of gone) this.staleNodes.delete(node);
        return gone;
      },
      ...options,
    });
  }
}
