/**
 * Kinds that are questions, not objects: POST one, get it back with `status` filled in; nothing is stored.
 * TokenReview and SelfSubjectReview say who someone is, the access reviews what they may do.
 */
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import { type Clock, rfc3339 } from '../../clock.ts';
import { ApiError, badRequest, type FieldError, field, invalid } from '../status.ts';
import type { Authenticator } from './authenticator.ts';
import type { Attributes, Authorizer, Identity } from './identity.ts';
import type { PolicyRule } from './policy-rule.ts';
import { aggregated, type RuleSet } from './rbac.ts';
import { INVALID_TOKEN, TokenError } from './service-account-tokens.ts';

const GROUP = 'authorization.k8s.io';

export interface ReviewContext {
  /** Who asks. */
  identity: Identity;
  /** From the URL; only LocalSubjectAccessReview has one. */
  namespace: string;
  authorizer: Authorizer & { rulesFor(identity: Identity, namespace: string): RuleSet };
  authenticator: Pick<Authenticator, 'verifyToken'>;
  clock: Clock;
}

type Review = (object: KubeObject, context: ReviewContext) => KubeObject;

const REVIEWS: Record<string, Review> = {
  TokenReview: tokenReview,
  SelfSubjectReview: selfSubjectReview,
  SubjectAccessReview: (object, context) => accessReview(object, context, subjectOf(object)),
  LocalSubjectAccessReview: (object, context) => accessReview(object, context, subjectOf(object)),
  SelfSubjectAccessReview: (object, context) => accessReview(object, context, context.identity),
  SelfSubjectRulesReview: rulesReview,
};

export function isReview(kind: string): boolean {
  return Object.hasOwn(REVIEWS, kind);
}

/** Answers `object`, a review of `kind`. Throws ApiError 400 or 422. */
export function review(kind: string, object: KubeObject, context: ReviewContext): KubeObject {
  const answer = REVIEWS[kind];
  if (!answer) throw badRequest(`${kind} is not a review`);
  return answer({ ...object, metadata: tidy(object.metadata ?? {}, context.namespace) }, context);
}

/** Clients send `creationTimestamp: null`, which Go reads as absent; the namespace of the URL goes without saying. */
function tidy(metadata: ObjectMeta, namespace: string): ObjectMeta {
  const given = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null && value !== ''));
  return namespace ? { namespace, ...given } : given;
}

function tokenReview(object: KubeObject, context: ReviewContext): KubeObject {
  const token: string = object.spec?.token ?? '';
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  const audiences: string[] | undefined = object.spec.audiences?.length ? object.spec.audiences : undefined;
  try {
    const verified = context.authenticator.verifyToken(token, audiences);
    return {
      ...object,
      status: { authenticated: true, user: userInfo(verified.identity), audiences: verified.audiences },
    };
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    // Upstream asks several authenticators and reports what each of them said.
    const said = error.message === INVALID_TOKEN ? INVALID_TOKEN : `[${INVALID_TOKEN}, ${error.message}]`;
    return { ...object, status: { user: {}, error: said } };
  }
}

function selfSubjectReview(object: KubeObject, context: ReviewContext): KubeObject {
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { creationTimestamp: rfc3339(context.clock.now()) },
    status: { userInfo: userInfo(context.identity) },
  };
}

function userInfo({ user, uid, groups, extra }: Identity): Record<string, unknown> {
  return {
    username: user,
    ...(uid ? { uid } : {}),
    groups,
    ...(extra && Object.keys(extra).length ? { extra } : {}),
  };
}

function accessReview(object: KubeObject, context: ReviewContext, subject: Identity): KubeObject {
  const errors = accessErrors(object);
  if (errors.length) throw invalidReview(errors);
  if (object.kind === 'LocalSubjectAccessReview') {
    if (!context.namespace) throw badRequest('namespace is required on this type: ');
    if (context.namespace !== object.metadata.namespace) {
      throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${context.namespace}`);
    }
  }
  const { allowed, reason } = context.authorizer.authorize(subject, attributesOf(object.spec));
  return { ...object, status: { allowed, ...(reason ? { reason } : {}) } };
}

/** Upstream leaves the kind out of these; `kubectl auth can-i` prints the message as it is. */
function invalidReview(errors: FieldError[]): ApiError {
  const { code, reason, message, details } = invalid(GROUP, '', '', errors);
  return new ApiError(code, reason, message, { group: GROUP, causes: details?.causes });
}

function subjectOf({ spec = {} }: KubeObject): Identity {
  return { user: spec.user ?? '', uid: spec.uid, groups: spec.groups ?? [], extra: spec.extra };
}

function attributesOf(spec: KubeObject['spec']): Attributes {
  const wanted = spec.resourceAttributes;
  if (!wanted) return { verb: spec.nonResourceAttributes.verb ?? '', path: spec.nonResourceAttributes.path ?? '' };
  return {
    verb: wanted.verb ?? '',
    group: wanted.group ?? '',
    version: wanted.version || '*',
    resource: wanted.resource ?? '',
    subresource: wanted.subresource ?? '',
    namespace: wanted.namespace ?? '',
    name: wanted.name ?? '',
  };
}

function accessErrors(object: KubeObject): FieldError[] {
  const { kind, spec = {} } = object;
  const errors: FieldError[] = [];
  const resource = spec.resourceAttributes;
  const path = spec.nonResourceAttributes;
  if (resource && path) {
    const detail = 'cannot be specified in combination with resourceAttributes';
    errors.push(field.invalid('spec.nonResourceAttributes', goShown(path), detail));
  }
  if (!resource && !path) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.push(field.invalid('spec.resourceAttributes', null, detail));
  }
  if (kind !== 'SelfSubjectAccessReview' && !spec.user && !spec.groups?.length) {
    errors.push(field.invalid('spec.user', spec.user ?? '', 'at least one of user or group must be specified'));
  }
  for (const selector of ['fieldSelector', 'labelSelector']) {
    errors.push(...selectorErrors(resource?.[selector], `spec.resourceAttributes.${selector}`));
  }
  const local = kind === 'LocalSubjectAccessReview';
  if (!emptyMetadata(object, local)) {
    errors.push(
      field.invalid('metadata', object.metadata, local ? 'must be empty except for namespace' : 'must be empty'),
    );
  }
  if (local && resource && (resource.namespace ?? '') !== (object.metadata.namespace ?? '')) {
    errors.push(
      field.invalid('spec.resourceAttributes.namespace', resource.namespace ?? '', 'must match metadata.namespace'),
    );
  }
  if (local && path) {
    errors.push(field.invalid('spec.nonResourceAttributes', goShown(path), 'disallowed on this kind of request'));
  }
  return errors;
}

/** The value as upstream's internal type prints. */
function goShown({ path = '', verb = '' }: { path?: string; verb?: string }): object {
  return { Path: path, Verb: verb };
}

function selectorErrors(
  selector: { rawSelector?: string; requirements?: unknown[] } | undefined,
  path: string,
): FieldError[] {
  if (!selector) return [];
  const raw = selector.rawSelector;
  const listed = selector.requirements?.length ?? 0;
  if (raw && listed) {
    return [field.invalid(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements')];
  }
  if (raw || listed) return [];
  const detail = `when ${path} is specified, requirements or rawSelector is required`;
  return [field.required(`${path}.requirements`, detail)];
}

function emptyMetadata({ metadata }: KubeObject, namespaceAllowed: boolean): boolean {
  return Object.keys(metadata).every((name) => name === 'managedFields' || (namespaceAllowed && name === 'namespace'));
}

function rulesReview(object: KubeObject, context: ReviewContext): KubeObject {
  const namespace: string = object.spec?.namespace ?? '';
  if (!namespace) throw badRequest('no namespace on request');
  const { rules, errors } = context.authorizer.rulesFor(context.identity, namespace);
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {},
    spec: {},
    status: {
      resourceRules: rules.filter((rule) => rule.resources?.length).map(resourceRule),
      nonResourceRules: rules
        .filter((rule) => rule.nonResourceURLs?.length)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
      ...(errors.length ? { evaluationError: aggregated(errors) } : {}),
    },
  };
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): PolicyRule {
  return { verbs, apiGroups, resources, ...(resourceNames?.length ? { resourceNames } : {}) };
}
