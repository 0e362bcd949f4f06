/** `authorizer.group('apps').resource('deployments').check('create').allowed()`: asks what someone may do. */
import type { Attributes, Authorizer, Identity } from '../../auth/identity.ts';
import { dns1123Label, dns1123Subdomain } from '../../builtins/names.ts';
import { declare, type FunctionDeclaration, type Implementation } from '../check/declarations.ts';
import { struct } from '../check/type.ts';
import { CelError, NO_OVERLOAD, Opaque, type Value } from '../values/value.ts';

const fn = (run: (...args: never[]) => Value) => run as Implementation;
const PACKAGE = 'kubernetes.authorization';

abstract class Step extends Opaque {
  equals(other: Value): Value {
    return other === this ? true : NO_OVERLOAD;
  }
}

/** The `authorizer` variable: someone, and those who know what they may do. */
export class AuthorizerValue extends Step {
  readonly type = struct(`${PACKAGE}.Authorizer`);
  readonly identity: Identity;
  readonly authorizer: Authorizer;

  constructor(identity: Identity, authorizer: Authorizer) {
    super();
    this.identity = identity;
    this.authorizer = authorizer;
  }
}

class PathCheck extends Step {
  readonly type = struct(`${PACKAGE}.PathCheck`);
  readonly who: AuthorizerValue;
  readonly path: string;

  constructor(who: AuthorizerValue, path: string) {
    super();
    this.who = who;
    this.path = path;
  }
}

class GroupCheck extends Step {
  readonly type = struct(`${PACKAGE}.GroupCheck`);
  readonly who: AuthorizerValue;
  readonly group: string;

  constructor(who: AuthorizerValue, group: string) {
    super();
    this.who = who;
    this.group = group;
  }
}

/** Also the `requestResource` of an authorizer: what the request itself is about. */
export class ResourceCheck extends Step {
  readonly type = struct(`${PACKAGE}.ResourceCheck`);
  readonly who: AuthorizerValue;
  readonly about: Omit<Attributes, 'verb'>;

  constructor(who: AuthorizerValue, about: Omit<Attributes, 'verb'>) {
    super();
    this.who = who;
    this.about = about;
  }

  with(more: Partial<Attributes>): ResourceCheck {
    return new ResourceCheck(this.who, { ...this.about, ...more });
  }
}

class DecisionValue extends Step {
  readonly type = struct(`${PACKAGE}.Decision`);
  readonly allowed: boolean;
  readonly reason: string;

  constructor(allowed: boolean, reason: string) {
    super();
    this.allowed = allowed;
    this.reason = reason;
  }
}

function decide({ authorizer, identity }: AuthorizerValue, attributes: Attributes): Value {
  const { allowed, reason } = authorizer.authorize(identity, attributes);
  return new DecisionValue(allowed, reason);
}

function serviceAccount(who: AuthorizerValue, namespace: string, name: string): Value {
  if (dns1123Subdomain(name).length > 0) return new CelError('Invalid service account name');
  if (dns1123Label(namespace).length > 0) return new CelError('Invalid service account namespace');
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return new AuthorizerValue({ user: `system:serviceaccount:${namespace}:${name}`, groups }, who.authorizer);
}

const A = `${PACKAGE}.Authorizer`;
const P = `${PACKAGE}.PathCheck`;
const G = `${PACKAGE}.GroupCheck`;
const R = `${PACKAGE}.ResourceCheck`;
const D = `${PACKAGE}.Decision`;

const refine = (key: keyof Attributes) => fn((check: ResourceCheck, value: string) => check.with({ [key]: value }));

export const AUTHORIZER: FunctionDeclaration[] = [
  declare('path', {
    authorizer_path: [
      `${A}.(string) ${P}`,
      fn((who: AuthorizerValue, path: string) =>
        path.trim() === '' ? new CelError('path must not be empty') : new PathCheck(who, path),
      ),
    ],
  }),
  declare('group', {
    authorizer_group: [`${A}.(string) ${G}`, fn((who: AuthorizerValue, group: string) => new GroupCheck(who, group))],
  }),
  declare('serviceAccount', { authorizer_serviceaccount: [`${A}.(string, string) ${A}`, fn(serviceAccount)] }),
  declare('resource', {
    groupcheck_resource: [
      `${G}.(string) ${R}`,
      fn(({ who, group }: GroupCheck, resource: string) =>
        resource.trim() === ''
          ? new CelError('resource must not be empty')
          : new ResourceCheck(who, { group, version: '*', resource }),
      ),
    ],
  }),
  declare('subresource', { resourcecheck_subresource: [`${R}.(string) ${R}`, refine('subresource')] }),
  declare('namespace', { resourcecheck_namespace: [`${R}.(string) ${R}`, refine('namespace')] }),
  declare('name', { resourcecheck_name: [`${R}.(string) ${R}`, refine('name')] }),
  // RBAC does not know selectors: a check with them is answered as one without.
  declare('fieldSelector', { authorizer_fieldselector: [`${R}.(string) ${R}`, fn((check: ResourceCheck) => check)] }),
  declare('labelSelector', { authorizer_labelselector: [`${R}.(string) ${R}`, fn((check: ResourceCheck) => check)] }),
  declare('check', {
    pathcheck_check: [
      `${P}.(string) ${D}`,
      fn((check: PathCheck, verb: string) => decide(check.who, { verb, path: check.path })),
    ],
    resourcecheck_check: [
      `${R}.(string) ${D}`,
      fn((check: ResourceCheck, verb: string) => decide(check.who, { ...check.about, verb })),
    ],
  }),
  declare('errored', { decision_errored: [`${D}.() bool`, fn(() => false)] }),
  declare('error', { decision_error: [`${D}.() string`, fn(() => '')] }),
  declare('allowed', { decision_allowed: [`${D}.() bool`, fn((decision: DecisionValue) => decision.allowed)] }),
  declare('reason', { decision_reason: [`${D}.() string`, fn((decision: DecisionValue) => decision.reason)] }),
];
