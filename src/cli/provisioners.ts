/** `rookery provisioners`: the ways to make a cluster, how real each one is, whether it can be used here and what it costs. */
import { clusterWays } from '../provisioners/registry.ts';
import { type Overhead, overheadOf } from '../tools/overhead.ts';
import { type GlobalOptions, homeOf } from './connect.ts';
import { columns, print } from './output.ts';
import { openWay } from './ways.ts';

interface ProvisionerLine {
  name: string;
  fidelity: string;
  about: string;
  available: boolean;
  detail: string;
  fix?: string;
  /** What changes without making it anew. */
  inPlace: ('scale' | 'upgrade')[];
  overhead?: Overhead;
}

export async function listProvisioners(options: GlobalOptions): Promise<void> {
  const home = homeOf(options);
  const lines = await Promise.all(
    clusterWays.map(async (way): Promise<ProvisionerLine> => {
      const provisioner = await openWay(way, home);
      const probe = await provisioner.probe();
      return {
        name: way.name,
        fidelity: way.fidelity,
        about: way.about,
        available: probe.isUsable,
        detail: probe.isUsable ? probe.detail : probe.why,
        ...(probe.isUsable ? {} : { fix: probe.fix }),
        inPlace: [
          ...(provisioner.scales === 'in place' ? (['scale'] as const) : []),
          ...(provisioner.upgrades === 'in place' ? (['upgrade'] as const) : []),
        ],
        overhead: overheadOf(way.name),
      };
    }),
  );
  await print(options.output, lines, table);
}

function table(lines: readonly ProvisionerLine[]): string {
  const rows = lines.map((line) => [
    line.name,
    line.fidelity,
    line.available ? 'yes' : 'no',
    line.inPlace.join(', ') || '-',
    line.overhead ? `${line.overhead.seconds} s` : '-',
    line.overhead ? `${line.overhead.memoryMiB} MiB` : '-',
    line.detail,
  ]);
  const fixes = lines.filter((line) => line.fix).map((line) => `${line.name}: ${line.fix}\n`);
  const places = [...new Set(lines.flatMap((line) => line.overhead?.measuredOn ?? []))];
  return [
    columns(['NAME', 'FIDELITY', 'AVAILABLE', 'IN PLACE', 'READY IN', 'MEMORY', 'DETAIL'], rows),
    ...places.map((place) => `measured on ${place}\n`),
    ...(fixes.length > 0 ? ['\nWhat helps:\n', ...fixes.map((fix) => `  ${fix}`)] : []),
  ].join('');
}
