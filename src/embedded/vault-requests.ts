/** The vault over HTTP, for commands that talk to a running control plane: `/rookery/vault…`, for administrators of the root cluster. */
import { badRequest, methodNotAllowed, unknownPath } from '../apiserver/index.ts';
import { KEY_KINDS, type KeyKind } from './rotation-file.ts';
import { asApiError, type Vault } from './vault.ts';

export const VAULT_PATH = '/rookery/vault';

export interface VaultCalls {
  rotate: { kinds: KeyKind[] };
  retire: { kinds: KeyKind[]; force?: boolean };
  revoke: { cluster: string; serial: string };
}

const SERIAL = /^[0-9A-F]{1,40}$/;

export async function serveVault(
  vault: Vault,
  { verb, rest, body }: { verb: string; rest: string[]; body: unknown },
): Promise<unknown> {
  const [first, call, ...more] = rest;
  if (first !== 'vault' || more.length > 0) throw unknownPath();
  try {
    if (call === undefined) {
      if (verb !== 'get') throw methodNotAllowed();
      return await vault.status();
    }
    if (verb !== 'post') throw methodNotAllowed();
    return await run(vault, call, (body ?? {}) as Record<string, unknown>);
  } catch (error) {
    throw asApiError(error);
  }
}

async function run(vault: Vault, call: string, body: Record<string, unknown>): Promise<unknown> {
  switch (call) {
    case 'rotate':
      await vault.rotate(kindsIn(body));
      return {};
    case 'retire':
      return { retired: await vault.retire(kindsIn(body), body.force === true) };
    case 'revoke': {
      const { cluster, serial } = body;
      if (typeof cluster !== 'string' || typeof serial !== 'string' || !SERIAL.test(serial)) {
        throw badRequest('cluster must be the name of a cluster, serial a hexadecimal number in upper case');
      }
      return { isNew: await vault.revokeCertificate(cluster, serial) };
    }
    default:
      throw unknownPath();
  }
}

function kindsIn({ kinds }: Record<string, unknown>): KeyKind[] {
  const known: readonly string[] = KEY_KINDS;
  if (!Array.isArray(kinds) || kinds.length === 0 || !kinds.every((kind) => known.includes(kind))) {
    throw badRequest(`kinds must be a list of ${KEY_KINDS.join(', ')}`);
  }
  return kinds;
}
