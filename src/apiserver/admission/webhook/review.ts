/** AdmissionReview: what a webhook is told of a request, and what its answer has to look like. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KubeObject } from '../../../api/object.ts';
import { isLarge } from '../../turns.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { Hook } from './hook.ts';
import type { Invocation } from './match.ts';

/** What the webhook decided; `patch` is base64 as it came. */
export interface Verdict {
  allowed: boolean;
  result?: Record<string, unknown>;
  patch?: string;
  patchType?: string;
  warnings: string[];
  /** Of the review, in characters: a large object is worked on in several turns of the event loop. */
  size?: number;
  auditAnnotations: Record<string, string>;
}

/** The request without its objects: what match conditions see as `request`. */
export function requestOf(attributes: AdmissionAttributes, invocation: Invocation): Record<string, unknown> {
  const { operation, resource, subresource, identity, dryRun } = attributes;
  const namespace = namespaceOf(attributes);
  const { user, uid, groups, extra } = identity;
  const below = subresource ? { subResource: subresource } : {};
  return {
    kind: invocation.kind,
    resource: {
      group: invocation.resource.group,
      version: invocation.resource.version,
      resource: invocation.resource.plural,
    },
    ...below,
    requestKind: kindOf(attributes),
    requestResource: { group: resource.group, version: resource.version, resource: resource.plural },
    ...(subresource ? { requestSubResource: subresource } : {}),
    ...(attributes.name ? { name: attributes.name } : {}),
    ...(namespace ? { namespace } : {}),
    operation,
    userInfo: {
      username: user,
      ...(uid ? { uid } : {}),
      groups,
      ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
    },
    dryRun,
    options: attributes.options?.() ?? null,
  };
}

/** A request for a Namespace counts as one in that namespace. */
export function namespaceOf({ namespace, resource, name }: AdmissionAttributes): string {
  return resource.storage === '/namespaces' ? name : namespace;
}

/** The kind that is sent: a subresource may have its own (Scale, Binding). */
export function kindOf({ resource, kind }: AdmissionAttributes): { group: string; version: string; kind: string } {
  return kind ?? { group: resource.group, version: resource.version, kind: resource.kind };
}

/** The body of a review. Objects are written one by one: a large one takes milliseconds. */
export async function reviewText(
  uid: string,
  version: string,
  request: Record<string, unknown>,
  object: KubeObject | undefined,
  old: KubeObject | undefined,
): Promise<string> {
  const newText = object ? JSON.stringify(object) : 'null';
  if (isLarge(newText.length)) await nextTurn();
  const oldText = old ? JSON.stringify(old) : 'null';
  if (isLarge(oldText.length)) await nextTurn();
  const head = JSON.stringify({ uid, ...request }).slice(0, -1);
  const type = `"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}"`;
  return `{${type},"request":${head},"object":${newText},"oldObject":${oldText}}}`;
}

/** The newest version of the review both sides know. */
export function reviewVersion({ reviewVersions }: Hook): string | undefined {
  return reviewVersions.find((version) => version === 'v1' || version === 'v1beta1');
}

/** Throws an Error that says what is wrong with the answer. */
export function verdictOf(answer: unknown, version: string, uid: string, mutating: boolean): Verdict {
  const { apiVersion = '', kind = '', response } = answer as Record<string, unknown>;
  if (typeof response !== 'object' || response === null) throw new Error('webhook response was absent');
  const given = response as Record<string, unknown>;
  const patch = textOf(given, 'patch');
  const patchType = textOf(given, 'patchType');
  if (version === 'v1') {
    if (given.uid !== uid) throw new Error(`expected response.uid=${quoted(uid)}, got ${quoted(given.uid ?? '')}`);
    if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') {
      const got = `${String(apiVersion).includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
      throw new Error(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}`);
    }
    checkPatch(patch, patchType, mutating);
  }
  return {
    allowed: given.allowed === true,
    ...(typeof given.status === 'object' && given.status !== null
      ? { result: given.status as Record<string, unknown> }
      : {}),
    ...(mutating && patch ? { patch, patchType: version === 'v1' ? patchType : 'JSONPatch' } : {}),
    warnings: Array.isArray(given.warnings) ? given.warnings.filter((text) => typeof text === 'string') : [],
    auditAnnotations: annotationsOf(given.auditAnnotations ?? {}),
  };
}

function checkPatch(patch: string | undefined, patchType: string | undefined, mutating: boolean): void {
  if (!mutating) {
    if (patch) throw new Error('validating webhook may not return response.patch');
    if (patchType !== undefined) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (patch && patchType === undefined) throw new Error('webhook returned response.patch but not response.patchType');
  if (!patch && patchType !== undefined) throw new Error('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""');
}

function textOf(response: Record<string, unknown>, name: string): string | undefined {
  const value = response[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  const what = `Go struct field AdmissionResponse.response.${name} of type ${name === 'patch' ? '[]uint8' : 'v1.PatchType'}`;
  throw new Error(`json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into ${what}`);
}

function annotationsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = 'Go struct field AdmissionResponse.response.auditAnnotations of type map[string]string';
    throw new Error(`json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into ${what}`);
  }
  return value as Record<string, string>;
}

function quoted(value: unknown): string {
  return JSON.stringify(String(value));
}
