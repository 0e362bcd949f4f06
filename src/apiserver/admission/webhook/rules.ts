/** Whether a rule of a webhook covers a request. */

export interface Rule {
  operations?: string[];
  apiGroups?: string[];
  apiVersions?: string[];
  resources?: string[];
  scope?: string;
}

export interface RuleSubject {
  operation: string;
  group: string;
  version: string;
  plural: string;
  /** Empty for the object itself. */
  subresource: string;
  /** Whether the object lives in a namespace; a Namespace does not. */
  namespaced: boolean;
}

export function covers(rule: Rule, subject: RuleSubject): boolean {
  return (
    inScope(rule.scope, subject.namespaced) &&
    names(rule.operations, subject.operation) &&
    names(rule.apiGroups, subject.group) &&
    names(rule.apiVersions, subject.version) &&
    (rule.resources ?? []).some((resource) => isResource(resource, subject))
  );
}

function inScope(scope: string | undefined, namespaced: boolean): boolean {
  if (scope === undefined || scope === '*') return true;
  return scope === (namespaced ? 'Namespaced' : 'Cluster');
}

function names(list: string[] | undefined, wanted: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(wanted));
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*\/scale`; without a slash subresources are not meant. */
function isResource(pattern: string, { plural, subresource }: RuleSubject): boolean {
  const slash = pattern.indexOf('/');
  const resource = slash < 0 ? pattern : pattern.slice(0, slash);
  const below = slash < 0 ? '' : pattern.slice(slash + 1);
  return (resource === '*' || resource === plural) && (below === '*' || below === subresource);
}
