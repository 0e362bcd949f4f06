/**
 * Key files that were there once and are gone. A new one would open nothing of what is stored, so a home with data does not start without them;
 * what is lost with each of them is said instead.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RookeryError } from '../errors.ts';
import type { Home } from './home.ts';

const RESTORE = 'Put the file back, or restore a backup: rookery backup restore <file> --replace';

/** A new home has no keys yet: they are made before its first store. */
export function refuseLostKeys(home: Home): void {
  const lost = [home.keyring, home.pki('ca.pem')].filter((file) => !existsSync(file));
  if (lost.length === 0 || !hasStores(home)) return;
  if (lost.includes(home.keyring)) {
    throw lostKey(
      home.keyring,
      'it holds the master keys: without it Secrets, tokens and certificates that are stored here cannot be read',
      RESTORE,
    );
  }
  throw lostKey(
    home.pki('ca.pem'),
    'it is the CA of the server: clients that trust it do not trust a new one, so every kubeconfig would have to be fetched again',
    `${RESTORE}. Or accept a new CA: rookery vault replace-lost ca`,
  );
}

/** `wasMade`: the root store says that links were signed with it. */
export function refuseLostLinkKey(home: Home, wasMade: boolean): void {
  if (!wasMade || existsSync(home.linkKey)) return;
  throw lostKey(
    home.linkKey,
    'it signs the links into workspaces: links that were handed out do not open with a new one',
    `${RESTORE}. Or accept a new key: rookery vault replace-lost links`,
  );
}

function hasStores({ data }: Home): boolean {
  const root = statSync(join(data, 'root.db'), { throwIfNoEntry: false });
  if (root && root.size > 0) return true;
  const clusters = join(data, 'clusters');
  return existsSync(clusters) && readdirSync(clusters).some((file) => file.endsWith('.db'));
}

function lostKey(file: string, meaning: string, hint: string): RookeryError {
  return new RookeryError('home.key-lost', `${file} is gone, and this home has data: ${meaning}`, { hint });
}
