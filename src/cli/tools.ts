/** `rookery tools`: the programs Rookery drives, the versions it knows, and which Kubernetes they can make. */
import { catalog, downloadFor, releasedVersions } from '../tools/catalog.ts';
import { findTool } from '../tools/find-tool.ts';
import { systemProcesses } from '../tools/processes.ts';
import { inRange, versionText } from '../tools/versions.ts';
import type { GlobalOptions } from './connect.ts';
import { columns, print } from './output.ts';

interface ToolLine {
  name: string;
  needed: string;
  version?: string;
  path?: string;
  why?: string;
  install: string;
  /** The release that `rookery tools install` would fetch. */
  download?: string;
  kubernetes: string[];
}

export async function listTools(options: GlobalOptions): Promise<void> {
  const { tools } = catalog();
  const lines = await Promise.all(
    Object.entries(tools).map(async ([name, entry]) => ({
      ...(await look(name, entry.range, entry.install)),
      download: downloadFor(entry)?.version,
    })),
  );
  await print(options.output, lines, (found) =>
    columns(
      ['TOOL', 'NEEDED', 'FOUND', 'INSTALLABLE', 'PATH', 'KUBERNETES'],
      found.map((line) => [
        line.name,
        line.needed,
        line.version ?? '<missing>',
        line.download ?? '-',
        line.path ?? line.why ?? '',
        line.kubernetes.join(' '),
      ]),
    ),
  );
}

async function look(name: string, needed: string, install: string): Promise<ToolLine> {
  const { tool, ...search } = await findTool(name, systemProcesses());
  if (!tool) return { name, needed, why: (search as { why: string }).why, install, kubernetes: [] };
  const images = Object.values(catalog().provisioners).flatMap((entry) => (entry.tool === name ? entry.images : []));
  const known = images.filter((set) => inRange(tool.version, set.tool)).flatMap(releasedVersions);
  return { name, needed, version: versionText(tool.version), path: tool.path, install, kubernetes: known };
}
