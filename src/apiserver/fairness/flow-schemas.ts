/**
 * Which flow schema a request falls under, and so which priority level and which flow of it. Kept per store and made
 * again when a flow schema or a level changes.
 */
import { type Identity, MASTERS } from '../auth/identity.ts';
import type { Route } from '../server/route.ts';
import type { Store, Stored } from '../store/store.ts';
import { type LevelSpec, levelSpec } from './level-spec.ts';

export const FLOWCONTROL = 'flowcontrol.apiserver.k8s.io';
export const FLOW_SCHEMAS = `${FLOWCONTROL}/flowschemas`;
export const LEVELS = `${FLOWCONTROL}/prioritylevelconfigurations`;

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
  distinguisherMethod?: { type?: string };
  rules?: Rule[];
}

export interface FlowSchema {
  name: string;
  uid: string;
  spec: Spec;
  level: LevelSpec;
}

/** All flow schemas whose level exists, in the order they are asked in, and all levels. */
export interface FlowTable {
  schemas: readonly FlowSchema[];
  levels: readonly LevelSpec[];
}

/** There without being stored: `exempt` for administrators, `catch-all` for what no other flow schema names. */
const EXEMPT: LevelSpec = { name: 'exempt', uid: '', isExempt: true, shares: 0, lendablePercent: 0 };
const CATCH_ALL: LevelSpec = { name: 'catch-all', uid: '', isExempt: false, shares: 5, lendablePercent: 0 };

const tables = new WeakMap<Store, FlowTable>();
/** The same few specs are in every cluster. */
const specs = new Map<string, Spec>();
const MOST_SPECS = 200;

export function flowTableOf(store: Store): FlowTable {
  let table = tables.get(store);
  if (!table) {
    table = load(store);
    tables.set(store, table);
    forgetOnChange(store);
  }
  return table;
}

export function classify({ schemas }: FlowTable, identity: Identity, route: Route): FlowSchema {
  // Administrators get through whatever the flow schemas say: one of these may be what they have to repair.
  const found = identity.groups.includes(MASTERS)
    ? schemas.find(({ name }) => name === EXEMPT.name)
    : schemas.find(({ spec }) => spec.rules?.some((rule) => applies(rule, identity, route)));
  return found ?? (schemas.at(-1) as FlowSchema);
}

/** The first change is enough: then they are read, and watched, again. */
function forgetOnChange(store: Store): void {
  const stops = [FLOW_SCHEMAS, LEVELS].map((resource) => store.watch({ resource, afterRv: store.rv }, () => forget()));
  const forget = () => {
    for (const stop of stops) stop();
    tables.delete(store);
  };
}

/** The smallest number first, then by name. */
function load(store: Store): FlowTable {
  const levels = new Map([EXEMPT, CATCH_ALL].map((level) => [level.name, level]));
  for (const stored of readWithin(store, LEVELS)) {
    const level = levelSpec(stored.object());
    // Whatever became of it, this one limits nothing.
    levels.set(level.name, level.name === EXEMPT.name ? { ...level, isExempt: true } : level);
  }
  const schemas: FlowSchema[] = [];
  for (const stored of readWithin(store, FLOW_SCHEMAS)) {
    const object = stored.object();
    const spec = shared(object.spec as Spec);
    const level = levels.get(spec.priorityLevelConfiguration?.name);
    if (level) schemas.push({ name: stored.key.name, uid: object.metadata.uid ?? '', spec, level });
  }
  const precedence = ({ spec }: FlowSchema) => spec.matchingPrecedence ?? 1000;
  schemas.sort((a, b) => precedence(a) - precedence(b) || (a.name < b.name ? -1 : 1));
  return { schemas: withMandatory(schemas, levels), levels: [...levels.values()] };
}

/** Each request is compared with these, and each change makes them be read again: by name, those that fit the limit count. */
function* readWithin(store: Store, resource: string): Generator<Stored> {
  let size = 0;
  for (let after: Stored['key'] | undefined, more = true; more; ) {
    const page = store.list({ resource, after, limit: PAGE });
    for (const stored of page.items) {
      size += stored.json.length;
      if (size > MOST_CHARACTERS) return;
      yield stored;
    }
    more = page.more;
    after = page.items.at(-1)?.key;
  }
}

const PAGE = 25;
const MOST_CHARACTERS = 256 * 1024;

/** As if they had not been deleted; `catch-all` comes last, with or without rules. */
function withMandatory(schemas: FlowSchema[], levels: ReadonlyMap<string, LevelSpec>): FlowSchema[] {
  const named = ({ name }: LevelSpec): FlowSchema => {
    const level = levels.get(name) as LevelSpec;
    const found = schemas.find((schema) => schema.name === name);
    return found ?? { name, uid: '', spec: { priorityLevelConfiguration: { name } }, level };
  };
  const [exempt, catchAll] = [named(EXEMPT), named(CATCH_ALL)];
  return [
    { ...exempt, level: levels.get(EXEMPT.name) as LevelSpec },
    ...schemas.filter(({ name }) => name !== exempt.name && name !== catchAll.name),
    catchAll,
  ];
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
