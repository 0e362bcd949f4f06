/** `rookery tools install` */

import { catalog } from '../tools/catalog.ts';
import { findTool } from '../tools/find-tool.ts';
import { installTool } from '../tools/install-tool.ts';
import { systemProcesses } from '../tools/processes.ts';
import { versionText } from '../tools/versions.ts';
import { type GlobalOptions, homeOf } from './connect.ts';
import { listenForInterrupts } from './interrupt.ts';
import { LiveLines } from './live-lines.ts';
import { print } from './output.ts';

interface InstallOptions extends GlobalOptions {
  force?: boolean;
}

interface Line {
  name: string;
  path: string;
  version: string;
  installed: boolean;
}

export async function installTools(options: InstallOptions, names: string[]): Promise<void> {
  const processes = systemProcesses();
  const folder = homeOf(options).tools;
  const { signal, stopListening } = listenForInterrupts();
  const lines: Line[] = [];
  try {
    for (const name of names) {
      const { tool } = options.force || !catalog().tools[name] ? {} : await findTool(name, processes, signal);
      if (tool) {
        lines.push({ name, path: tool.path, version: versionText(tool.version), installed: false });
        continue;
      }
      const show = progress(options, name);
      const { path, version } = await installTool(name, folder, processes, { signal, onProgress: show.at });
      show.end();
      lines.push({ name, path, version: versionText(version), installed: true });
    }
  } finally {
    stopListening();
  }
  await print(options.output, lines, (found) =>
    found
      .map(({ name, path, version, installed }) =>
        installed ? `${name} ${version} installed at ${path}\n` : `${name} ${version} is at ${path} already\n`,
      )
      .join(''),
  );
}

/** A line that moves on a terminal; nothing elsewhere. */
function progress(options: InstallOptions, name: string) {
  const isShown = options.output === 'table' && process.stderr.isTTY;
  const live = new LiveLines(process.stderr);
  const mib = (bytes: number) => (bytes / 1024 ** 2).toFixed(1);
  return {
    at(received: number, total: number | undefined) {
      if (isShown) live.draw([`  ${name}: ${mib(received)}${total ? ` of ${mib(total)}` : ''} MiB`]);
    },
    end() {
      if (isShown) live.clear();
    },
  };
}
