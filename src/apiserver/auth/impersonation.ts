/** `kubectl --as`: the identity asked for by Impersonate-* headers, if RBAC lets the caller have all of it. */
import type { IncomingHttpHeaders } from 'node:http';
import { badRequest } from '../status.ts';
import { requireAllowed } from './denial.ts';
import type { Attributes, Authorizer, Identity } from './identity.ts';
import { serviceAccountGroups, splitServiceAccountUser } from './service-account-tokens.ts';

const AUTHENTICATION = 'authentication.k8s.io';
const EXTRA = 'impersonate-extra-';

export interface Impersonation {
  user: string;
  uid?: string;
  groups: string[];
  extra: Record<string, string[]>;
}

/**
 * What the headers ask for. `distinct` is Node's `headersDistinct` (or the same shape): repeated headers must not be
 * joined, because a group name may contain a comma.
 */
export function readImpersonation(distinct: NodeJS.Dict<string[]> | IncomingHttpHeaders): Impersonation | undefined {
  const values = (name: string): string[] => {
    const value = distinct[name];
    return value === undefined ? [] : Array.isArray(value) ? value : [value];
  };
  const user = values('impersonate-user')[0] ?? '';
  const groups = values('impersonate-group');
  const uid = values('impersonate-uid')[0];
  const extra: Record<string, string[]> = {};
  for (const name of Object.keys(distinct)) {
    if (name.startsWith(EXTRA)) extra[unescaped(name.slice(EXTRA.length))] = values(name);
  }
  if (!user && (groups.length || uid || Object.keys(extra).length)) {
    throw badRequest(`requested ${goReferences(groups, extra, uid)} without impersonating a user`);
  }
  return user ? { user, groups, extra, ...(uid ? { uid } : {}) } : undefined;
}

/** Throws 403 unless `caller` may become all of `wanted`. */
export function impersonate(authorizer: Authorizer, caller: Identity, wanted: Impersonation): Identity {
  const ask = (attributes: Omit<Attributes, 'verb'>) =>
    requireAllowed(authorizer, caller, { verb: 'impersonate', group: '', ...attributes });
  const account = splitServiceAccountUser(wanted.user);
  if (account) ask({ resource: 'serviceaccounts', namespace: account.namespace, name: account.name });
  else ask({ resource: 'users', name: wanted.user });
  for (const group of wanted.groups) ask({ resource: 'groups', name: group });
  for (const [key, values] of Object.entries(wanted.extra)) {
    for (const value of values) {
      ask({ group: AUTHENTICATION, version: 'v1', resource: 'userextras', subresource: key, name: value });
    }
  }
  if (wanted.uid) ask({ group: AUTHENTICATION, version: 'v1', resource: 'uids', name: wanted.uid });

  const groups = wanted.groups.length ? [...wanted.groups] : account ? serviceAccountGroups(account.namespace) : [];
  const implied = wanted.user === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated';
  const stated = groups.includes('system:unauthenticated') || groups.includes(implied);
  if (!stated) groups.push(implied);
  return {
    user: wanted.user,
    ...(wanted.uid ? { uid: wanted.uid } : {}),
    groups,
    ...(Object.keys(wanted.extra).length ? { extra: wanted.extra } : {}),
  };
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key.toLowerCase());
  } catch {
    return key.toLowerCase();
  }
}

/** What was asked for, as Go prints the list of object references upstream keeps it in. */
function goReferences(groups: string[], extra: Record<string, string[]>, uid: string | undefined): string {
  const version = `${AUTHENTICATION}/v1`;
  const references = [
    ...groups.map((group) => `{Group  ${group}    }`),
    ...Object.entries(extra).flatMap(([key, values]) => values.map((v) => `{UserExtra  ${v}  ${version}  ${key}}`)),
    ...(uid ? [`{UID  ${uid}  ${version}  }`] : []),
  ];
  return `[${references.join(' ')}]`;
}
