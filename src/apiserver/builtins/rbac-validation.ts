/** Roles and bindings (pkg/apis/rbac/validation). What may be granted to whom is the authorizer's business. */
import { type FieldError, field } from '../status.ts';
import { labelSelector, subdomain } from './checks.ts';
import { type Any, items, same } from './fields.ts';
import { pathSegment } from './names.ts';

const RBAC = 'rbac.authorization.k8s.io';

export function validateRole({ kind, rules, aggregationRule }: Any): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, rule] of items(rules).entries()) {
    const here = `rules[${index}]`;
    if (items(rule.verbs).length === 0)
      errors.push(field.required(`${here}.verbs`, 'verbs must contain at least one value'));
    const urls = items(rule.nonResourceURLs);
    if (urls.length) {
      const say = (text: string) => errors.push(field.invalid(`${here}.nonResourceURLs`, urls, text));
      if (kind === 'Role') say('namespaced rules cannot apply to non-resource URLs');
      if ([rule.apiGroups, rule.resources, rule.resourceNames].some((list) => items(list).length)) {
        say('rules cannot apply to both regular resources and non-resource URLs');
      }
      continue;
    }
    if (items(rule.apiGroups).length === 0) {
      errors.push(field.required(`${here}.apiGroups`, 'resource rules must supply at least one api group'));
    }
    if (items(rule.resources).length === 0) {
      errors.push(field.required(`${here}.resources`, 'resource rules must supply at least one resource'));
    }
  }
  if (!aggregationRule) return errors;
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = items(aggregationRule.clusterRoleSelectors);
  if (selectors.length === 0) {
    errors.push(field.required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  }
  for (const [index, selector] of selectors.entries()) errors.push(...labelSelector(selector, `${path}[${index}]`));
  return errors;
}

function validateSubject(subject: Any, namespaced: boolean, path: string): FieldError[] {
  const { kind, name, apiGroup = '', namespace } = subject;
  const errors = name ? [] : [field.required(`${path}.name`)];
  if (kind === 'ServiceAccount') {
    if (name) errors.push(...subdomain(name, `${path}.name`));
    if (apiGroup) errors.push(field.notSupported(`${path}.apiGroup`, apiGroup, ['']));
    if (!namespaced && !namespace) errors.push(field.required(`${path}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== RBAC) errors.push(field.notSupported(`${path}.apiGroup`, apiGroup, [RBAC]));
  } else errors.push(field.notSupported(`${path}.kind`, kind ?? '', ['ServiceAccount', 'User', 'Group']));
  return errors;
}

export function validateBinding({ kind, roleRef = {}, subjects }: Any): FieldError[] {
  const namespaced = kind === 'RoleBinding';
  const errors: FieldError[] = [];
  if (roleRef.apiGroup !== RBAC) errors.push(field.notSupported('roleRef.apiGroup', roleRef.apiGroup ?? '', [RBAC]));
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  if (!kinds.includes(roleRef.kind)) errors.push(field.notSupported('roleRef.kind', roleRef.kind ?? '', kinds));
  if (!roleRef.name) errors.push(field.required('roleRef.name'));
  else for (const text of pathSegment(roleRef.name)) errors.push(field.invalid('roleRef.name', roleRef.name, text));
  for (const [index, subject] of items(subjects).entries()) {
    errors.push(...validateSubject(subject, namespaced, `subjects[${index}]`));
  }
  return errors;
}

export function validateBindingUpdate(object: Any, old: Any): FieldError[] {
  const errors = validateBinding(object);
  if (!same(object.roleRef, old.roleRef)) {
    const { apiGroup, kind, name } = object.roleRef;
    errors.push(field.invalid('roleRef', { APIGroup: apiGroup, Kind: kind, Name: name }, 'cannot change roleRef'));
  }
  return errors;
}
