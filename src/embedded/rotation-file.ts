/** A rotation of keys that has begun and is not finished: written before the first step, removed after the last one. */
import { readFile, rm } from 'node:fs/promises';
import { createPrivate } from '../vault/files.ts';
import type { Home } from './home.ts';

/** `data`: master and data keys. `tokens`, `clients`: of every cluster. `ca`: of the server. `links`: into workspaces. */
export const KEY_KINDS = ['data', 'links', 'tokens', 'clients', 'ca'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

export interface Rotation {
  kinds: KeyKind[];
  /** Milliseconds since the epoch. A key made at or after this moment is a new one: every step can be done again. */
  startedAt: number;
}

export async function readRotation(home: Home): Promise<Rotation | undefined> {
  try {
    return JSON.parse(await readFile(home.rotation, 'utf8')) as Rotation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** False when there is one already. */
export async function writeRotation(home: Home, rotation: Rotation): Promise<boolean> {
  return await createPrivate(home.rotation, `${JSON.stringify(rotation)}\n`);
}

export async function removeRotation(home: Home): Promise<void> {
  await rm(home.rotation, { force: true });
}
