// Whether a part can be had on this machine at all, and if not, why: said before anything is tried.
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Part } from './part.ts';

export function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A reason why this part cannot be built here, or nothing. */
export function impossible(part: Part): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `needs Linux on x86-64, this is ${process.platform} on ${process.arch}`;
  const { from } = part.source;
  if (from === 'go' && !onPath('go')) return 'needs the Go toolchain on PATH';
  if (from === 'go' && part.source.cgo && !onPath('gcc')) return 'needs a C compiler on PATH';
  if ((from === 'apt' || from === 'debian' || from === 'rootfs') && !onPath('apt-get'))
    return 'needs a Debian system (apt-get)';
  if ((from === 'apt' || from === 'rootfs' || from === 'image') && process.getuid?.() !== 0) return 'needs root';
  if ((from === 'debian' || from === 'rootfs') && !existsSync('/usr/share/keyrings/debian-archive-keyring.gpg'))
    return 'needs the debian-archive-keyring';
  return undefined;
}
