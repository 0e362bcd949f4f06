/**
 * The links into a workspace, as its object remembers them: which were made, and which are revoked. A link itself is
 * signed and stored nowhere; these records list it and revoke it.
 */
import type { KubeObject } from '../../api/object.ts';
import { workspaceInstances } from '../../api/resources.ts';
import { RookeryError } from '../../errors.ts';
import { isConflict, keyOf, listAll, type ObjectStore } from '../../kube/index.ts';

export interface LinkRecord {
  id: string;
  role: 'student' | 'viewer';
  createdAt: string;
  expiresAt: string;
}

/** What a link says about itself. Links of older versions have neither id nor time. */
export interface LinkClaims {
  id?: string;
  /** Milliseconds since the epoch. */
  issuedAt?: number;
  expiresAt?: number;
}

const MOST_LINKS = 200;
const CONFLICT_RETRIES = 10;

/** Claims without an end do not come from a link: the controllers and the command line need none. */
export function isRevoked({ spec }: KubeObject, { id, issuedAt = 0, expiresAt }: LinkClaims): boolean {
  if (expiresAt === undefined) return false;
  const revokedUpTo = spec?.linksRevokedAt ? Date.parse(spec.linksRevokedAt) : undefined;
  if (revokedUpTo !== undefined && issuedAt <= revokedUpTo) return true;
  return id !== undefined && (spec?.revokedLinks ?? []).includes(id);
}

/** Neither expired nor revoked. */
export function validLinks(instance: KubeObject, now: number): LinkRecord[] {
  const records: LinkRecord[] = instance.status?.links ?? [];
  return records.filter(({ id, createdAt, expiresAt }) => {
    const claims = { id, issuedAt: Date.parse(createdAt), expiresAt: Date.parse(expiresAt) };
    return claims.expiresAt > now && !isRevoked(instance, claims);
  });
}

/** Call it before the link is printed: a link without a record could not be revoked by its id. */
export async function recordLink(store: ObjectStore, instance: KubeObject, link: LinkRecord, now: number) {
  const key = keyOf(instance);
  for (let attempt = 0; ; attempt++) {
    const seen = await store.get(workspaceInstances, key);
    const valid = validLinks(seen, now);
    if (valid.length >= MOST_LINKS) throw tooMany(key.name);
    const { resourceVersion } = seen.metadata;
    const body = { metadata: { resourceVersion }, status: { links: [...valid, link] } };
    try {
      await store.patch(workspaceInstances, key, { type: 'merge', body }, { subresource: 'status' });
      return;
    } catch (error) {
      if (!isConflict(error) || attempt >= CONFLICT_RETRIES) throw error;
    }
  }
}

/** Links that were made before a moment and are valid, for people: those that a key from before it has signed. */
export async function linksBefore(store: ObjectStore, moment: number, now: number): Promise<string[]> {
  const { items } = await listAll(store, workspaceInstances);
  return items.flatMap((instance) =>
    validLinks(instance, now)
      .filter(({ createdAt }) => Date.parse(createdAt) < moment)
      .map(({ id, expiresAt }) => `link ${id} into ${instance.metadata.name}, until ${expiresAt}`),
  );
}

function tooMany(name: string): RookeryError {
  return new RookeryError('workspace.links', `workspace ${name} has ${MOST_LINKS} links that are valid`, {
    class: 'user',
    hint: `revoke some first: rookery workspace revoke-link ${name} --all`,
  });
}
