/**
 * Which flow schema a request falls under, and so which priority level: answers name both, as clients and tests look
 * for them. Nothing is queued by it. Kept per store and made again when a flow schema or a level changes.
 */
import type { Identity } from '../auth/identity.ts';
import type { Store } from '../store/store.ts';
import type { Route } from './route.ts';

const GROUP = 'flowcontrol.apiserver.k8s.io';
const FLOW_SCHEMAS = `${GROUP}/flowschemas`;
const LEVELS = `${GROUP}/prioritylevelconfigurations`;

interface Rule {
  subjects?: {
    kind: string;
    user?: { name: string };
    group?: { name: string };
    serviceAccount?: { name: string; namespace: string };
  }[];
  resourceRules?: {
    verbs: string[];
    apiGroups: string[];
    resources: string[];
    clusterScope?: boolean;
    namespaces?: string[];
  }[];
  nonResourceRules?: { verbs: string[]; nonResourceURLs: string[] }[];
}

interface Spec {
  matchingPrecedence?: number;
  priorityLevelConfiguration: { name: string };
  rules?: Rule[];
}

export interface Classification {
  flowSchema: string;
  priorityLevel: string;
}

interface Entry extends Classification {
  name: string;
  spec: Spec;
}

const tables = new WeakMap<Store, Entry[]>();
/** The same few specs are in every cluster. */
const specs = new Map<string, Spec>();
const MOST_SPECS = 200;

export function classify(store: Store, identity: Identity, route: Route): Classification | undefined {
  let entries = tables.get(store);
  if (!entries) {
    entries = load(store);
    tables.set(store, entries);
    forgetOnChange(store);
  }
  return entries.find(({ spec }) => spec.rules?.some((rule) => applies(rule, identity, route)));
}

/** The first change is enough: then they are read, and watched, again. */
function forgetOnChange(store: Store): void {
  const stops = [FLOW_SCHEMAS, LEVELS].map((resource) => store.watch({ resource, afterRv: store.rv }, () => forget()));
  const forget = () => {
    for (const stop of stops) stop();
    tables.delete(store);
  };
}

/** Those whose level exists; the smallest number first, then by name. */
function load(store: Store): Entry[] {
  const levels = new Map<string, string>();
  for (const stored of store.list({ resource: LEVELS }).items) {
    levels.set(stored.key.name, stored.object().metadata.uid ?? '');
  }
  const entries: Entry[] = [];
  for (const stored of store.list({ resource: FLOW_SCHEMAS }).items) {
    const object = stored.object();
    const spec = shared(object.spec as Spec);
    const priorityLevel = levels.get(spec.priorityLevelConfiguration?.name);
    if (priorityLevel === undefined) continue;
    entries.push({ name: stored.key.name, flowSchema: object.metadata.uid ?? '', priorityLevel, spec });
  }
  const precedence = ({ spec }: Entry) => spec.matchingPrecedence ?? 1000;
  return entries.sort((a, b) => precedence(a) - precedence(b) || (a.name < b.name ? -1 : 1));
}

function shared(spec: Spec): Spec {
  const text = JSON.stringify(spec);
  const known = specs.get(text);
  if (known) return known;
  if (specs.size >= MOST_SPECS) specs.clear();
  specs.set(text, spec);
  return spec;
}

function applies(rule: Rule, identity: Identity, route: Route): boolean {
  if (!rule.subjects?.some((subject) => isMeant(subject, identity))) return false;
  if (route.kind === 'path') {
    return (rule.nonResourceRules ?? []).some(
      ({ verbs, nonResourceURLs }) => has(verbs, route.verb) && nonResourceURLs.some((url) => covers(url, route.path)),
    );
  }
  const resource = route.subresource ? `${route.plural}/${route.subresource}` : route.plural;
  return (rule.resourceRules ?? []).some(
    ({ verbs, resources, apiGroups, clusterScope, namespaces }) =>
      has(verbs, route.verb) &&
      has(resources, resource) &&
      has(apiGroups, route.group) &&
      (route.namespace === '' ? clusterScope === true : has(namespaces ?? [], route.namespace)),
  );
}

function isMeant({ kind, user, group, serviceAccount }: NonNullable<Rule['subjects']>[number], who: Identity): boolean {
  switch (kind) {
    case 'User':
      return user !== undefined && (user.name === '*' || user.name === who.user);
    case 'Group':
      return group !== undefined && (group.name === '*' || who.groups.includes(group.name));
    case 'ServiceAccount': {
      if (!serviceAccount) return false;
      const prefix = `system:serviceaccount:${serviceAccount.namespace}:`;
      return serviceAccount.name === '*' ? who.user.startsWith(prefix) : who.user === `${prefix}${serviceAccount.name}`;
    }
    default:
      return false;
  }
}

function has(list: string[], wanted: string): boolean {
  return (list.length === 1 && list[0] === '*') || list.includes(wanted);
}

/** A URL of a rule stands for everything below it, with or without a star. */
function covers(url: string, path: string): boolean {
  if (url === '*' || url === path) return true;
  const prefix = url.replace(/\*$/, '');
  return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}
