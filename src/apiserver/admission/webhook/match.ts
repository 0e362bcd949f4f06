/** Which webhooks a request concerns, and in which version of the kind each wants to see it. */
import type { KubeObject } from '../../../api/object.ts';
import type { Authorizer } from '../../auth/identity.ts';
import type { Registry } from '../../kinds/registry.ts';
import type { Resource } from '../../resource.ts';
import { forbidden } from '../../status.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { inNamespaces, selectsObject } from '../selectors.ts';
import type { Hook } from './hook.ts';
import { kindOf, requestOf } from './review.ts';
import { covers, type RuleSubject } from './rules.ts';

/** A webhook to be called, and the form of the resource its rule names. */
export interface Invocation {
  hook: Hook;
  resource: Resource;
  kind: { group: string; version: string; kind: string };
}

/** Objects of a request in the version of some resource; `undefined` where there is none (object of a DELETE). */
export interface Forms {
  object(resource: Resource): Promise<KubeObject | undefined>;
  old(resource: Resource): Promise<KubeObject | undefined>;
}

/** What there is besides the request to judge by. */
export interface Surroundings {
  registry: Registry;
  /** For `authorizer` in match conditions. */
  authorizer?: Authorizer;
}

/** Throws ApiError where it cannot be told, as the real server refuses then. */
export async function invocationOf(
  hook: Hook,
  attributes: AdmissionAttributes,
  { registry, authorizer }: Surroundings,
  forms: Forms,
): Promise<Invocation | undefined> {
  // A namespace that is not there fails the request only if a rule covers it.
  let missing: Error | undefined;
  try {
    if (!inNamespaces(hook.namespaceSelector, attributes)) return undefined;
  } catch (error) {
    missing = error as Error;
  }
  if (!selectsObject(hook.objectSelector, attributes)) return undefined;
  const invocation = coveredBy(hook, attributes, registry);
  if (!invocation) return undefined;
  if (missing) throw missing;
  if (!hook.conditions) return invocation;
  const variables = {
    object: await forms.object(invocation.resource),
    oldObject: await forms.old(invocation.resource),
    request: requestOf(attributes, invocation),
    authorizer,
    identity: attributes.identity,
  };
  try {
    return (await hook.conditions.holdInTurns(variables, attributes.scope)) ? invocation : undefined;
  } catch (error) {
    const { group, plural } = attributes.resource;
    throw forbidden({ group, resource: plural, name: attributes.name }, (error as Error).message);
  }
}

function coveredBy(hook: Hook, attributes: AdmissionAttributes, registry: Registry): Invocation | undefined {
  const { resource } = attributes;
  const own = subjectOf(attributes, resource);
  if (hook.rules.some((rule) => covers(rule, own))) return { hook, resource, kind: kindOf(attributes) };
  if (!hook.matchesEquivalent) return undefined;
  const others = registry.sharing(resource.storage).filter((other) => other !== resource);
  for (const rule of hook.rules) {
    for (const other of others) {
      if (covers(rule, subjectOf(attributes, other))) return { hook, resource: other, kind: kindIn(other, attributes) };
    }
  }
  return undefined;
}

function kindIn(resource: Resource, { kind }: AdmissionAttributes): Invocation['kind'] {
  return kind ?? { group: resource.group, version: resource.version, kind: resource.kind };
}

function subjectOf(attributes: AdmissionAttributes, resource: Resource): RuleSubject {
  return {
    operation: attributes.operation,
    group: resource.group,
    version: resource.version,
    plural: resource.plural,
    subresource: attributes.subresource,
    namespaced: attributes.namespace !== '',
  };
}
