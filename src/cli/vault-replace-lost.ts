/** `rookery vault replace-lost`: a person accepts a new key in place of one that is gone. */
import { existsSync } from 'node:fs';
import { systemClock, systemRandom } from '../clock.ts';
import { ensureAuthority } from '../embedded/authority.ts';
import { claimHome, removeState } from '../embedded/state-file.ts';
import { RookeryError } from '../errors.ts';
import { LinkKeys } from '../vault/link-keys.ts';
import { type GlobalOptions, homeOf } from './connect.ts';
import { print } from './output.ts';
import { rookeryVersion } from './version.ts';

export async function replaceLost(options: GlobalOptions, kind: string): Promise<void> {
  const home = homeOf(options);
  const kinds: Record<string, { file: string; make(): Promise<unknown>; meaning: string }> = {
    ca: {
      file: home.pki('ca.pem'),
      make: () => ensureAuthority(home.pki('ca.pem'), systemClock),
      meaning: 'fetch the kubeconfigs of all clusters again',
    },
    links: {
      file: home.linkKey,
      make: () => LinkKeys.open(home.linkKey, systemClock, systemRandom),
      meaning: 'hand out new links into workspaces: those of before do not open any more',
    },
  };
  const wanted = kinds[kind];
  if (!wanted)
    throw refusal(
      'vault.kind',
      `${JSON.stringify(kind)} cannot be replaced`,
      'use ca or links; what the master keys sealed needs a backup',
    );
  if (existsSync(wanted.file))
    throw refusal('vault.not-lost', `${wanted.file} is not lost`, `exchange it with: rookery vault rotate ${kind}`);
  const command = `rookery vault replace-lost ${kind}`;
  const holder = await claimHome(home, { startedAt: new Date().toISOString(), version: rookeryVersion(), command });
  if (holder)
    throw refusal(
      'vault.home-in-use',
      `a control plane (pid ${holder.pid}) uses ${home.path}`,
      'stop it with `rookery down`',
    );
  try {
    await wanted.make();
  } finally {
    await removeState(home);
  }
  await print(
    options.output,
    { file: wanted.file, next: wanted.meaning },
    () => `${wanted.file} is new: ${wanted.meaning}\n`,
  );
}

function refusal(code: string, message: string, hint: string): RookeryError {
  return new RookeryError(code, message, { class: 'user', hint });
}
