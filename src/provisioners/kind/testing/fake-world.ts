/** A machine with kind and Docker made of files and shell scripts. */
import { fileURLToPath } from 'node:url';
import { FakeEngine } from '../../docker-cluster/testing/fake-engine.ts';
import { KindProvisioner, type KindProvisionerOptions } from '../kind-provisioner.ts';

export class FakeWorld extends FakeEngine {
  constructor() {
    super(fileURLToPath(new URL('./bin', import.meta.url)), 'v1.35.8');
  }

  provisioner(options: Partial<KindProvisionerOptions> = {}): KindProvisioner {
    return new KindProvisioner(this.options(options));
  }
}
