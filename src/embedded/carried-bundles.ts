/**
 * Where kubeconfigs of this server carry the CA that clients trust: files below the home folder and Secrets of the root
 * cluster. They hold it word for word, so an old one is found, and replaced, as text.
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { type Cluster, LOOPBACK } from '../apiserver/index.ts';
import { writePrivate } from '../vault/files.ts';
import type { Authority } from './authority.ts';
import type { Home } from './home.ts';

const SECRETS = '/secrets';

const PAGE = 200;
/** A bundle in base64 is longer than anything else that looks like it. */
const LONG_TEXT = /[A-Za-z0-9+/=]{200,}/g;

interface Carrier {
  /** For people. */
  name: string;
  text: string;
  replace(text: string): Promise<unknown>;
}

/** Those that carry none but a CA that is to be retired, by name. */
export async function carriersOfOld(home: Home, root: Cluster, authority: Authority): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of carriers(home, root, earlierBundles(authority))) found.push(name);
  return found;
}

/** Files and Secrets get the bundle of now in place of earlier ones. */
export async function replaceBundles(home: Home, root: Cluster, earlier: string[], now: string): Promise<void> {
  const old = new Set(earlier.map(encoded));
  for await (const { text, replace } of carriers(home, root, earlier)) {
    await replace(text.replace(LONG_TEXT, (found) => (old.has(found) ? encoded(now) : found)));
  }
}

/** What kubeconfigs carried before the newest CA was made, and before the one before that. */
export function earlierBundles({ retiring }: Authority): string[] {
  return retiring.map((_, i) => retiring.slice(i).join(''));
}

async function* carriers(home: Home, root: Cluster, bundles: string[]): AsyncGenerator<Carrier> {
  const old = new Set(bundles.map(encoded));
  const isOld = (text: string) => (text.match(LONG_TEXT) ?? []).some((found) => old.has(found));
  for (const file of await kubeconfigFiles(home)) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (isOld(text)) yield { name: file, text, replace: (fresh) => writePrivate(file, fresh) };
  }
  for await (const each of secretTexts(root)) if (isOld(each.text)) yield each;
}

async function* secretTexts(root: Cluster): AsyncGenerator<Carrier> {
  const resource = root.registry.find('', 'v1', 'secrets');
  if (!resource) return;
  for (let after: { namespace: string; name: string } | undefined; ; await turn()) {
    const page = root.store.list({ resource: SECRETS, limit: PAGE, after });
    for (const stored of page.items) {
      const { namespace, name } = stored.key;
      for (const [key, value] of Object.entries<string>(stored.object().data ?? {})) {
        const replace = (fresh: string) => {
          const body = { data: { [key]: Buffer.from(fresh).toString('base64') } };
          return root.operations.patch(resource, namespace, name, { type: 'merge', body }, { identity: LOOPBACK });
        };
        yield { name: `secret ${namespace}/${name}`, text: Buffer.from(value, 'base64').toString(), replace };
      }
    }
    after = page.items.at(-1)?.key;
    if (!page.more) return;
  }
}

async function kubeconfigFiles(home: Home): Promise<string[]> {
  const folder = dirname(home.clusterKubeconfig(''));
  const names = await readdir(folder).catch(() => [] as string[]);
  return [home.kubeconfig, ...names.filter((name) => name.endsWith('.kubeconfig')).map((name) => join(folder, name))];
}

function encoded(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
