/** Which requests a policy or a binding is about, and in which version of the kind it wants to see them. */
import { type LabelSelector, selectorFromObject } from '../../../api/label-selector.ts';
import type { Registry } from '../../kinds/registry.ts';
import type { Resource } from '../../resource.ts';
import type { AdmissionAttributes } from '../admission.ts';
import { inNamespaces, selectsObject } from '../selectors.ts';
import { covers } from '../webhook/rules.ts';
import type { MatchResources } from './policy.ts';

export interface Criteria {
  match: MatchResources;
  namespaces: LabelSelector;
  objects: LabelSelector;
}

export function criteriaOf(match: MatchResources = {}): Criteria {
  return {
    match,
    namespaces: selectorFromObject(match.namespaceSelector) ?? [],
    objects: selectorFromObject(match.objectSelector) ?? [],
  };
}

/** The form of the resource that is meant, or undefined; throws where the namespace of a covered request is missing. */
export function matched(criteria: Criteria, attributes: AdmissionAttributes, registry: Registry): Resource | undefined {
  const { match } = criteria;
  let missing: Error | undefined;
  try {
    if (!inNamespaces(criteria.namespaces, attributes)) return undefined;
  } catch (error) {
    missing = error as Error;
  }
  if (!selectsObject(criteria.objects, attributes)) return undefined;
  if (byRules(match.excludeResourceRules ?? [], match, attributes, registry)) return undefined;
  const rules = match.resourceRules ?? [];
  const resource = rules.length === 0 ? attributes.resource : byRules(rules, match, attributes, registry);
  if (resource && missing) throw missing;
  return resource;
}

function byRules(
  rules: NonNullable<MatchResources['resourceRules']>,
  { matchPolicy }: MatchResources,
  attributes: AdmissionAttributes,
  registry: Registry,
): Resource | undefined {
  const { resource, subresource, operation, namespace, name } = attributes;
  const matches = (form: Resource) =>
    rules.some((rule) => {
      const { group, version, plural } = form;
      const subject = { operation, group, version, plural, subresource, namespaced: namespace !== '' };
      return covers(rule, subject) && (!rule.resourceNames?.length || rule.resourceNames.includes(name));
    });
  if (matches(resource)) return resource;
  if (matchPolicy === 'Exact') return undefined;
  return registry.sharing(resource.storage).find((other) => other !== resource && matches(other));
}
