/** `rookery workspace links` and `rookery workspace revoke-link`: the valid links of a workspace, and revoking them. */
import { workspaceInstances } from '../api/resources.ts';
import { type LinkRecord, validLinks } from '../controllers/workspace/link-records.ts';
import { RookeryError } from '../errors.ts';
import { keyOf } from '../kube/index.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { age, columns, print } from './output.ts';
import { findWorkspace } from './workspace-lookup.ts';

interface LinkOptions extends GlobalOptions {
  namespace?: string;
}

export async function listLinks(options: LinkOptions, name: string): Promise<void> {
  const { store, close } = await connect(options);
  try {
    const links = validLinks(await findWorkspace(store, name, options.namespace), Date.now());
    await print(options.output, links, () => table(name, links));
  } finally {
    await close();
  }
}

/** Pages and terminals that were opened with it end within a second. */
export async function revokeLinks(
  options: LinkOptions & { all?: boolean },
  name: string,
  ids: string[],
): Promise<void> {
  if (options.all ? ids.length > 0 : ids.length === 0) {
    throw new RookeryError('cli.links', 'name the links to revoke, or use --all', {
      class: 'user',
      hint: `see \`rookery workspace links ${name}\``,
    });
  }
  const { store, close } = await connect(options);
  try {
    const instance = await findWorkspace(store, name, options.namespace);
    const links = validLinks(instance, Date.now());
    const strange = ids.find((id) => !links.some((link) => link.id === id));
    if (strange !== undefined) throw unknownLink(name, strange);
    // A revoked id is kept as long as its link would have been valid.
    const known: string[] = instance.spec?.revokedLinks ?? [];
    const alive = (id: string) =>
      (instance.status?.links ?? []).some(
        (link: LinkRecord) => link.id === id && Date.parse(link.expiresAt) > Date.now(),
      );
    const spec = options.all
      ? { linksRevokedAt: new Date().toISOString(), revokedLinks: null }
      : { revokedLinks: [...new Set([...known.filter(alive), ...ids])] };
    const { resourceVersion } = instance.metadata;
    await store.patch(workspaceInstances, keyOf(instance), {
      type: 'merge',
      body: { metadata: { resourceVersion }, spec },
    });
    const revoked = options.all ? links.map(({ id }) => id) : ids;
    await print(options.output, { name, revoked, all: options.all === true }, () =>
      options.all
        ? `all links into ${name} made until now are revoked\n`
        : revoked.map((id) => `link ${id} into ${name} is revoked\n`).join(''),
    );
  } finally {
    await close();
  }
}

function unknownLink(name: string, id: string): RookeryError {
  return new RookeryError('workspace.link', `${name} has no valid link ${JSON.stringify(id)}`, {
    class: 'user',
    hint: `see \`rookery workspace links ${name}\`; links of older versions have no id: use --all`,
  });
}

function table(name: string, links: LinkRecord[]): string {
  if (links.length === 0) return `${name} has no valid link; make one: rookery workspace open ${name}\n`;
  const now = Date.now();
  const rows = links.map(({ id, role, createdAt, expiresAt }) => [
    id,
    role,
    age(createdAt, now),
    age(new Date(2 * now - Date.parse(expiresAt)).toISOString(), now),
  ]);
  return columns(['ID', 'ROLE', 'AGE', 'VALID FOR'], rows);
}
