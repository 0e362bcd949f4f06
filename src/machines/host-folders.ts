/**
 * Folders of this machine that clusters may be given: as mounts, as programs, as archives of images. A path is judged by where it leads, all symbolic
 * links followed. Rookery's own folder, which holds its keys, is never given, nor a folder that contains it, nor a socket.
 */
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { RookeryError } from '../errors.ts';

export class HostFolders {
  readonly #allowed: readonly string[];
  readonly #own: string | undefined;

  /** `own`: Rookery's own folder. */
  constructor(allowed: readonly string[], own?: string) {
    this.#allowed = allowed;
    this.#own = own;
  }

  async allows(path: string): Promise<boolean> {
    return (await this.#refusal(path)) === undefined;
  }

  /** Throws a `RookeryError` of the class `user` that names the setting. */
  async check(path: string): Promise<void> {
    const why = await this.#refusal(path);
    if (!why) return;
    throw new RookeryError('host.path', `${path} may not be used: ${why}`, {
      class: 'user',
      hint: `use a path below ${this.#allowed.join(', ') || 'an allowed folder'}, or let the operator name its folder in ROOKERY_HOST_FOLDERS`,
    });
  }

  async #refusal(path: string): Promise<string | undefined> {
    if (!isAbsolute(path) || path.includes('\0') || path.split(sep).includes('..')) {
      return 'it must be an absolute path without ..';
    }
    const target = await resolved(path);
    if (target === undefined) return 'it is a symbolic link that leads nowhere';
    const own = this.#own && (await resolved(this.#own));
    if (own && (isBelow(target, own) || isBelow(own, target))) return "it is, holds or lies in Rookery's own folder";
    const folders = await Promise.all(this.#allowed.map(resolved));
    if (!folders.some((folder) => folder !== undefined && isBelow(target, folder))) {
      return `${target === path ? 'it lies' : `it leads to ${target}, which lies`} outside of the folders that clusters may be given`;
    }
    return (await isSocket(target)) ? 'it is a socket, through which another program takes orders' : undefined;
  }
}

/** With all links followed, also where the last parts do not exist yet; undefined for a link that leads nowhere. */
async function resolved(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    // A tool that is given a link without a target makes the target.
    if (await exists(path)) return undefined;
    const parent = dirname(path);
    if (parent === path) return path;
    const above = await resolved(parent);
    return above === undefined ? undefined : join(above, basename(path));
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

async function isSocket(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isSocket() ?? false;
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
