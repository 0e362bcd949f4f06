/** New keys in place of lost files, made only when a person asks for them by name. */
import { existsSync } from 'node:fs';
import { type Clock, type Random, systemClock, systemRandom } from '../clock.ts';
import { LinkKeys } from '../vault/link-keys.ts';
import { ensureAuthority } from './authority.ts';
import type { Home } from './home.ts';
import type { KeyKind } from './rotation-file.ts';

/**
 * Of the kinds that were named. Master keys are not among them: what they sealed is lost with them, and a new one would
 * only hide that. Returns what the loss means, a sentence for each.
 */
export async function replaceLostKeys(
  home: Home,
  kinds: readonly KeyKind[],
  clock: Clock = systemClock,
  random: Random = systemRandom,
): Promise<string[]> {
  const said: string[] = [];
  if (!existsSync(home.keyring)) return said;
  const ca = home.pki('ca.pem');
  if (kinds.includes('ca') && !existsSync(ca)) {
    await ensureAuthority(ca, clock);
    said.push(`${ca} was lost: clients do not trust the new CA until they fetch their kubeconfigs again`);
  }
  if (kinds.includes('links') && !existsSync(home.linkKey)) {
    await LinkKeys.open(home.linkKey, clock, random);
    said.push(`${home.linkKey} was lost: links into workspaces have to be made anew`);
  }
  return said;
}
