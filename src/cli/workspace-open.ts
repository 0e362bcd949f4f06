/** `rookery workspace open`: a link that lets one person into one workspace for a while. */

import type { KubeObject } from '../api/object.ts';
import { workspaceInstances } from '../api/resources.ts';
import { systemClock, systemRandom } from '../clock.ts';
import { type LinkRecord, recordLink } from '../controllers/workspace/link-records.ts';
import type { Home } from '../embedded/home.ts';
import { RookeryError } from '../errors.ts';
import { type Pass, WorkspaceLinks } from '../http/workspace-links.ts';
import { keyOf, type ObjectStore, waitFor } from '../kube/index.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { print } from './output.ts';
import { findWorkspace } from './workspace-lookup.ts';

interface OpenOptions extends GlobalOptions {
  namespace?: string;
  view?: boolean;
  hours: string;
}

const WAIT_MS = 30_000;

export async function openWorkspace(options: OpenOptions, name: string): Promise<void> {
  const hours = Number(options.hours);
  if (!(hours > 0 && hours <= 24 * 31)) {
    throw new RookeryError(
      'cli.hours',
      `--hours: ${JSON.stringify(options.hours)} is not a number of hours up to 744`,
      {
        class: 'user',
      },
    );
  }
  const { home, store, isHosted, close } = await connect(options);
  try {
    if (isHosted) throw nothingServes();
    const found = await findWorkspace(store, name, options.namespace);
    const role = options.view ? 'viewer' : 'student';
    const link = await linkTo(store, home, found, role, hours * 3_600_000);
    await print(options.output, { name, role, link, hours }, () => `${link}\n`);
  } finally {
    await close();
  }
}

export async function linkTo(
  store: ObjectStore,
  home: Home,
  instance: KubeObject,
  role: 'student' | 'viewer',
  ttlMs: number,
): Promise<string> {
  const key = keyOf(instance);
  const has = (seen: KubeObject | undefined) => Boolean(seen?.status?.accessEndpoints?.webTerminal);
  const ready = await waitFor(store, workspaceInstances, key, has, { timeoutMs: WAIT_MS, what: 'its terminal' });
  const links = await WorkspaceLinks.open(home.linkKey, systemClock, systemRandom);
  const wanted = { namespace: key.namespace as string, name: key.name, uid: instance.metadata.uid as string, role };
  const { token, pass } = links.issue(wanted, ttlMs);
  await recordLink(store, instance, recordOf(pass), systemClock.now());
  return `${new URL('/open', ready?.status?.accessEndpoints?.webTerminal)}?link=${token}`;
}

function recordOf({ id = '', role, issuedAt = 0, expiresAt }: Pass): LinkRecord {
  return { id, role, createdAt: new Date(issuedAt).toISOString(), expiresAt: new Date(expiresAt).toISOString() };
}

export function nothingServes(): RookeryError {
  return new RookeryError('workspace.closed', 'no control plane serves terminals here', {
    class: 'user',
    hint: 'start one: rookery up --detach',
  });
}
