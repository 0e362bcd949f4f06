/**
 * Secrets of type kubernetes.io/service-account-token: filled with a token of the ServiceAccount they name, and
 * removed when that ServiceAccount is gone. People still make them for tools that cannot renew a token.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Key } from '../store/store.ts';
import { builtin, hasReason, type Loop, type LoopContext, pages, scan, WRITE, warn } from './loop.ts';
import { keyOfText, keyText } from './owner-graph.ts';
import { WorkQueue } from './work-queue.ts';

const SECRETS = '/secrets';
const ACCOUNTS = '/serviceaccounts';
const TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';

export const tokenSecrets: Loop = (context) => {
  const { store, clock } = context;
  const queue = new WorkQueue({
    clock,
    work: (key) => handle(context, keyOfText(key)),
    onError: (key, error) => {
      if (!hasReason(error, 'Conflict', 'NotFound')) warn(context, `token secret ${key} could not be kept`, error);
    },
  });
  let stopped = false;
  const note = ({ key, json }: { key: Key; json: string }) => {
    if (json.includes(TYPE)) queue.add(keyText(key));
  };
  const stops = [
    store.watch({ resource: SECRETS, afterRv: store.rv }, ({ type, current }) => {
      if (type !== 'DELETED') note(current);
    }),
    store.watch({ resource: ACCOUNTS, afterRv: store.rv }, ({ type, current }) => {
      if (type !== 'DELETED') return;
      noteAll(current.key.namespace).catch((error) => {
        if (!stopped) warn(context, 'reading token secrets failed', error);
      });
    }),
    scan(context, SECRETS, note),
    () => queue.stop(),
  ];

  async function noteAll(namespace: string): Promise<void> {
    for await (const page of pages(store, SECRETS, namespace)) page.forEach(note);
  }

  return () => {
    stopped = true;
    for (const stop of stops) stop();
  };
};

async function handle(context: LoopContext, key: Key): Promise<void> {
  const { store, operations } = context;
  const secret = store.get(key)?.object();
  if (!secret || secret.type !== TYPE || secret.metadata.deletionTimestamp) return;
  const { annotations = {}, uid, resourceVersion } = secret.metadata;
  const account = annotations[ACCOUNT_NAME] ?? '';
  const found = store.get({ resource: ACCOUNTS, namespace: key.namespace, name: account })?.object();
  const secrets = builtin(context, '', 'v1', 'secrets');
  const named = annotations[ACCOUNT_UID];
  if (!found || (named && named !== found.metadata.uid)) {
    await operations.delete(secrets, key.namespace, key.name, { preconditions: { uid, resourceVersion } }, WRITE);
    return;
  }
  const data = missingData(context, secret, key, { name: account, uid: found.metadata.uid });
  if (!Object.keys(data).length && named) return;
  const metadata = { resourceVersion, annotations: { [ACCOUNT_UID]: found.metadata.uid } };
  const patch = { type: 'merge' as const, body: { metadata, data } };
  await operations.patch(secrets, key.namespace, key.name, patch, WRITE);
}

function missingData(
  { tokens, rootCa }: LoopContext,
  secret: KubeObject,
  { namespace, name }: Key,
  serviceaccount: { name: string; uid?: string },
): Record<string, string> {
  const data: Record<string, string> = secret.data ?? {};
  const wanted: Record<string, string> = {};
  const want = (key: string, value: string) => {
    const encoded = Buffer.from(value).toString('base64');
    if (data[key] !== encoded) wanted[key] = encoded;
  };
  want('ca.crt', rootCa);
  want('namespace', namespace);
  // Bound to the secret, so it dies with it. One of an older key is replaced while that key still counts.
  if (!data.token || !tokens.isOfNewestKey(Buffer.from(data.token, 'base64').toString())) {
    want('token', tokens.issueForSecret({ namespace, serviceaccount, secret: { name, uid: secret.metadata.uid } }));
  }
  return wanted;
}
