/** `rookery provisioners`: the ways to make a cluster, how real each one is, and whether it can be used here. */
import { systemClock } from '../clock.ts';
import { KindProvisioner } from '../provisioners/kind/kind-provisioner.ts';
import { systemProcesses } from '../tools/processes.ts';
import { type GlobalOptions, homeOf } from './connect.ts';
import { columns, print } from './output.ts';

interface ProvisionerLine {
  name: string;
  fidelity: string;
  available: boolean;
  detail: string;
  fix?: string;
}

export async function listProvisioners(options: GlobalOptions): Promise<void> {
  const folder = homeOf(options).provisioner('kind');
  const kind = new KindProvisioner({ processes: systemProcesses(), clock: systemClock, folder });
  const probe = await kind.probe();
  const lines: ProvisionerLine[] = [
    { name: 'virtual', fidelity: 'simulated', available: true, detail: 'always: tenants of the control plane itself' },
    {
      name: kind.name,
      fidelity: kind.fidelity,
      available: probe.isUsable,
      detail: probe.isUsable ? probe.detail : probe.why,
      ...(probe.isUsable ? {} : { fix: probe.fix }),
    },
  ];
  await print(options.output, lines, (found) => {
    const rows = found.map((line) => [line.name, line.fidelity, line.available ? 'yes' : 'no', line.detail]);
    const fixes = found.filter((line) => line.fix).map((line) => `${line.name}: ${line.fix}\n`);
    return [columns(['NAME', 'FIDELITY', 'AVAILABLE', 'DETAIL'], rows), ...fixes].join('');
  });
}
