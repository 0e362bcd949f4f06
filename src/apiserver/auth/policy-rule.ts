/**
 * The algebra of RBAC rules: does a rule allow a request, does one set of rules cover another. Semantics as in
 * k8s.io/component-helpers/auth/rbac/validation; pure functions, no store.
 */
import type { Attributes } from './identity.ts';

/** A rule as Roles and ClusterRoles carry it. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** A rule prepared for decisions. `undefined` stands for "all". */
export interface CompiledRule {
  readonly source: PolicyRule;
  readonly verbs: Set<string> | undefined;
  readonly groups: Set<string> | undefined;
  readonly resources: Set<string> | undefined;
  /** Subresources named as `*\/scale`, held without the prefix. */
  readonly anySubresource: Set<string> | undefined;
  readonly names: Set<string> | undefined;
  readonly paths: string[];
}

function setOrAll(values: string[] = []): Set<string> | undefined {
  return values.includes('*') ? undefined : new Set(values);
}

export function compileRule(rule: PolicyRule): CompiledRule {
  const wild = (rule.resources ?? []).filter((r) => r.startsWith('*/')).map((r) => r.slice(2));
  return {
    source: rule,
    verbs: setOrAll(rule.verbs),
    groups: setOrAll(rule.apiGroups),
    resources: setOrAll(rule.resources),
    anySubresource: wild.length ? new Set(wild) : undefined,
    names: rule.resourceNames?.length ? new Set(rule.resourceNames) : undefined,
    paths: rule.nonResourceURLs ?? [],
  };
}

/** `resource` is the plural with its subresource, `pods/log`: joined once per decision, not once per rule. */
export function allows(rule: CompiledRule, attributes: Attributes, resource: string): boolean {
  if (rule.verbs && !rule.verbs.has(attributes.verb)) return false;
  if (attributes.resource === undefined) return rule.paths.some((p) => pathCovers(p, attributes.path ?? ''));
  if (rule.groups && !rule.groups.has(attributes.group ?? '')) return false;
  if (rule.resources && !rule.resources.has(resource)) {
    if (!attributes.subresource || !rule.anySubresource?.has(attributes.subresource)) return false;
  }
  return !rule.names || rule.names.has(attributes.name ?? '');
}

function pathCovers(owner: string, path: string): boolean {
  if (owner === path) return true;
  return owner.endsWith('*') && path.startsWith(owner.replace(/\*+$/, ''));
}

/** The atomic rules in `wanted` that no rule in `held` covers. */
export function uncovered(held: PolicyRule[], wanted: PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((atom) => !held.some((rule) => ruleCovers(rule, atom)));
}

/** One rule per (group, resource, verb, name) and per (path, verb), so that a single owner rule can cover each. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const atoms: PolicyRule[] = [];
  for (const group of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs) {
        const atom = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (!rule.resourceNames?.length) atoms.push(atom);
        else for (const name of rule.resourceNames) atoms.push({ ...atom, resourceNames: [name] });
      }
    }
  }
  for (const path of rule.nonResourceURLs ?? []) {
    for (const verb of rule.verbs) atoms.push({ nonResourceURLs: [path], verbs: [verb] });
  }
  return atoms;
}

function ruleCovers(owner: PolicyRule, atom: PolicyRule): boolean {
  const verb = atom.verbs[0] ?? '';
  if (!owner.verbs.includes('*') && !owner.verbs.includes(verb)) return false;
  const path = atom.nonResourceURLs?.[0];
  if (path !== undefined) {
    // An owner rule limited by name says nothing about paths.
    return !owner.resourceNames?.length && (owner.nonResourceURLs ?? []).some((p) => pathCovers(p, path));
  }
  const groups = owner.apiGroups ?? [];
  if (!groups.includes('*') && !groups.includes(atom.apiGroups?.[0] ?? '')) return false;
  if (!resourceCovers(owner.resources ?? [], atom.resources?.[0] ?? '')) return false;
  if (!owner.resourceNames?.length) return true;
  const name = atom.resourceNames?.[0];
  return name !== undefined && owner.resourceNames.includes(name);
}

function resourceCovers(owned: string[], resource: string): boolean {
  if (owned.includes('*') || owned.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`);
}

/** Joins atomic rules that differ by verb only: what a person can read. */
export function compact(atoms: PolicyRule[]): PolicyRule[] {
  const complex: PolicyRule[] = [];
  const simple = new Map<string, PolicyRule>();
  for (const atom of atoms) {
    if (atom.nonResourceURLs?.length) {
      complex.push(atom);
      continue;
    }
    const key = JSON.stringify([atom.apiGroups, atom.resources, atom.resourceNames]);
    const known = simple.get(key);
    if (known) known.verbs.push(...atom.verbs);
    else simple.set(key, { ...atom, verbs: [...atom.verbs] });
  }
  return [...complex, ...simple.values()];
}

/** Go's `%q` of a list of strings: `["a" "b"]`. */
export function quotedList(values: string[]): string {
  return `[${values.map((v) => JSON.stringify(v)).join(' ')}]`;
}

/** A rule as escalation errors print it. */
export function ruleText(rule: PolicyRule): string {
  const parts: string[] = [];
  const add = (label: string, values?: string[]) => {
    if (values?.length) parts.push(`${label}:${quotedList(values)}`);
  };
  add('APIGroups', rule.apiGroups);
  add('Resources', rule.resources);
  add('NonResourceURLs', rule.nonResourceURLs);
  add('ResourceNames', rule.resourceNames);
  add('Verbs', rule.verbs);
  return `{${parts.join(', ')}}`;
}
