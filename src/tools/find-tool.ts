/**
 * Finding external programs: on PATH when the version is in range, else what `rookery tools install` fetched into the home folder, else in the
 * offline folder `ROOKERY_TOOLS`.
 */
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { loadConfig } from '../config.ts';
import { downloadFor, toolEntry } from './catalog.ts';
import type { Processes } from './processes.ts';
import { findVersion, inRange, type Version, versionText } from './versions.ts';

export interface FoundTool {
  name: string;
  path: string;
  version: Version;
}

export type ToolSearch = { tool: FoundTool; why?: undefined } | { tool?: undefined; why: string; fix: string };

export async function findTool(name: string, processes: Processes, signal?: AbortSignal): Promise<ToolSearch> {
  const entry = toolEntry(name);
  const { range, version: args } = entry;
  const rejected: string[] = [];
  for (const folder of folders(processes.env)) {
    const path = join(folder, name);
    if (!(await isExecutable(path))) continue;
    const { code, stdout, stderr } = await processes.run(path, args, { signal, timeoutMs: 20_000 });
    const version = findVersion(stdout);
    if (!version)
      rejected.push(`${path} did not say its version (exit ${code}: ${(stderr || stdout).trim().split('\n')[0]})`);
    else if (!inRange(version, range)) rejected.push(`${path} is ${versionText(version)}, needed is ${range}`);
    else return { tool: { name, path, version } };
  }
  const fix = downloadFor(entry) ? `rookery tools install ${name}   # or: ${entry.install}` : entry.install;
  if (rejected.length === 0) return { why: `${name} is neither on PATH nor in ROOKERY_TOOLS`, fix };
  return { why: rejected.join('; '), fix };
}

function folders(env: Processes['env']): string[] {
  const { home } = loadConfig({ ROOKERY_HOME: env.ROOKERY_HOME });
  return [...(env.PATH ?? '').split(delimiter), join(home, 'tools'), env.ROOKERY_TOOLS ?? ''].filter(Boolean);
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
