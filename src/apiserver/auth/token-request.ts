/** POST serviceaccounts/<name>/token: a TokenRequest in, the same with `status.token` out. Nothing is stored. */
import type { KubeObject } from '../../api/object.ts';
import { type Clock, rfc3339 } from '../../clock.ts';
import { badRequest, conflict, field, invalid, notFound } from '../status.ts';
import type { Store } from '../store/store.ts';
import type { ObjectName, ServiceAccountTokens, TokenBinding } from './service-account-tokens.ts';

const GROUP = 'authentication.k8s.io';
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

export interface TokenRequestContext {
  store: Store;
  clock: Clock;
  tokens: ServiceAccountTokens;
}

interface BoundObjectRef {
  apiVersion?: string;
  kind?: string;
  name?: string;
  uid?: string;
}

/** `issueToken` for the ServiceAccount `namespace/name` named in the URL. */
export function issueToken(
  context: TokenRequestContext,
  namespace: string,
  name: string,
  request: KubeObject,
): KubeObject {
  const { metadata: given = {}, spec = {} } = request;
  const bad = (path: string, value: unknown, detail: string, about = name) =>
    invalid(GROUP, 'TokenRequest', about, [field.invalid(path, value, detail)]);
  if (given.name && given.name !== name) {
    throw bad('metadata.name', given.name, 'must match the service account name if specified');
  }
  if (given.namespace && given.namespace !== namespace) {
    throw bad('metadata.namespace', given.namespace, 'must match the service account namespace if specified');
  }
  const account = found(context.store, '/serviceaccounts', namespace, name);
  if (given.uid && given.uid !== account.metadata.uid) {
    throw conflict(
      { group: GROUP, resource: 'TokenRequest', name },
      `the UID in the token request (${given.uid}) does not match the UID of the service account (${account.metadata.uid})`,
    );
  }
  const seconds = spec.expirationSeconds ?? DEFAULT_SECONDS;
  if (seconds < MIN_SECONDS) {
    throw bad('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes', '');
  }
  if (seconds > MAX_SECONDS) {
    throw bad('spec.expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds', '');
  }
  const audiences: string[] = spec.audiences?.length ? spec.audiences : context.tokens.audiences;
  const binding: TokenBinding = { namespace, serviceaccount: { name, uid: account.metadata.uid } };
  if (spec.boundObjectRef) Object.assign(binding, bound(context.store, namespace, name, spec.boundObjectRef));

  const now = context.clock.now();
  const token = context.tokens.issue(binding, audiences, seconds);
  return {
    apiVersion: request.apiVersion,
    kind: 'TokenRequest',
    metadata: { ...given, name, namespace, uid: account.metadata.uid, creationTimestamp: rfc3339(now) },
    spec: { ...spec, audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: { token, expirationTimestamp: rfc3339(now + seconds * 1000) },
  };
}

function bound(store: Store, namespace: string, account: string, ref: BoundObjectRef): Partial<TokenBinding> {
  const type = ref.apiVersion === 'v1' || !ref.apiVersion ? ref.kind : undefined;
  const name = ref.name ?? '';
  const check = (object: KubeObject): ObjectName => {
    const uid = object.metadata.uid;
    if (ref.uid && ref.uid !== uid) {
      throw conflict(
        { group: '', resource: ref.kind ?? '', name },
        `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    return { name, uid };
  };
  if (type === 'Secret') return { secret: check(found(store, '/secrets', namespace, name)) };
  if (type === 'Node') return { node: check(found(store, '/nodes', '', name)) };
  if (type !== 'Pod') {
    const version = ref.apiVersion?.includes('/') ? ref.apiVersion : `/${ref.apiVersion ?? ''}`;
    throw badRequest(`cannot bind token to object of type ${version}, Kind=${ref.kind}`);
  }
  const pod = found(store, '/pods', namespace, name);
  if (pod.spec?.serviceAccountName !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  const nodeName: string | undefined = pod.spec.nodeName;
  if (!nodeName) return { pod: check(pod) };
  const node = store.get({ resource: '/nodes', namespace: '', name: nodeName })?.object();
  return { pod: check(pod), node: { name: nodeName, uid: node?.metadata.uid } };
}

function found(store: Store, resource: string, namespace: string, name: string): KubeObject {
  const stored = store.get({ resource, namespace, name });
  if (!stored) throw notFound({ group: '', resource: resource.slice(1), name });
  return stored.object();
}
