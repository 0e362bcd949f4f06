/**
 * Decides by the Roles and bindings that the cluster itself stores. Nothing is read until the first question, roles
 * are compiled when first referred to, bindings are indexed per scope by subject, and store watches keep all of that
 * fresh: a decision is a few map look-ups. `close` returns to the state of before the first question.
 */
import type { KubeObject } from '../../api/object.ts';
import { qualified } from '../status.ts';
import type { ChangeEvent, Store, Stored } from '../store/store.ts';
import { type Attributes, type Authorizer, type Decision, type Identity, MASTERS } from './identity.ts';
import { allows, type CompiledRule, compileRule, type PolicyRule } from './policy-rule.ts';
import { type Binding, type RoleRef, SubjectIndex } from './subject-index.ts';

const GROUP = 'rbac.authorization.k8s.io';
const ROLES = `${GROUP}/roles`;
const CLUSTER_ROLES = `${GROUP}/clusterroles`;
const BINDINGS = `${GROUP}/rolebindings`;
const CLUSTER_BINDINGS = `${GROUP}/clusterrolebindings`;
const PAGE = 500;

/** The rules someone holds in a namespace, and the references that led nowhere. */
export interface RuleSet {
  rules: PolicyRule[];
  errors: string[];
}

interface State {
  roles: Map<string, CompiledRule[] | undefined>;
  cluster: SubjectIndex | undefined;
  namespaces: Map<string, SubjectIndex>;
  stop: (() => void)[];
}

export class RbacAuthorizer implements Authorizer {
  readonly #store: Store;
  #state: State | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  authorize(identity: Identity, attributes: Attributes): Decision {
    if (identity.groups.includes(MASTERS)) return { allowed: true, reason: '' };
    const resource = attributes.subresource
      ? `${attributes.resource}/${attributes.subresource}`
      : (attributes.resource ?? '');
    let allowedBy: Binding | undefined;
    let errors: string[] | undefined;
    this.#visit(identity, attributes.namespace ?? '', (binding, rules) => {
      if (!rules) {
        errors ??= [];
        errors.push(missing(binding.role));
        return false;
      }
      if (!rules.some((rule) => allows(rule, attributes, resource))) return false;
      allowedBy = binding;
      return true;
    });
    if (allowedBy) return { allowed: true, reason: `RBAC: allowed by ${source(allowedBy)}` };
    return { allowed: false, reason: errors ? `RBAC: ${aggregated(errors)}` : '' };
  }

  /** Everything the identity may do in a namespace (cluster-wide rights only, when it is empty). */
  rulesFor(identity: Identity, namespace: string): RuleSet {
    const result: RuleSet = { rules: [], errors: [] };
    this.#visit(identity, namespace, (binding, rules) => {
      if (rules) for (const rule of rules) result.rules.push(rule.source);
      else result.errors.push(missing(binding.role));
      return false;
    });
    return result;
  }

  /** The rules a roleRef stands for; undefined when there is no such role. */
  rulesOf(role: RoleRef, namespace: string): PolicyRule[] | undefined {
    return this.#rules(this.#awake(), role, namespace)?.map((rule) => rule.source);
  }

  close(): void {
    for (const stop of this.#state?.stop ?? []) stop();
    this.#state = undefined;
  }

  #visit(
    identity: Identity,
    namespace: string,
    found: (binding: Binding, rules: CompiledRule[] | undefined) => boolean,
  ): void {
    const state = this.#awake();
    const each = (binding: Binding) => found(binding, this.#rules(state, binding.role, namespace));
    state.cluster ??= this.#load(CLUSTER_BINDINGS);
    if (state.cluster.some(identity, each) || !namespace) return;
    let local = state.namespaces.get(namespace);
    if (!local) {
      local = this.#load(BINDINGS, namespace);
      // A namespace without bindings is not remembered: names in requests are anybody's choice.
      if (this.#store.count(BINDINGS, namespace) > 0) state.namespaces.set(namespace, local);
    }
    local.some(identity, each);
  }

  #rules(state: State, role: RoleRef, namespace: string): CompiledRule[] | undefined {
    const place = role.kind === 'Role' ? namespace : '';
    const key = `${place}/${role.name}`;
    if (state.roles.has(key)) return state.roles.get(key);
    const resource = role.kind === 'Role' ? ROLES : CLUSTER_ROLES;
    const object = this.#store.get({ resource, namespace: place, name: role.name })?.object();
    const rules = object && ((object.rules ?? []) as PolicyRule[]).map(compileRule);
    state.roles.set(key, rules);
    return rules;
  }

  #load(resource: string, namespace?: string): SubjectIndex {
    const index = new SubjectIndex();
    let after: { namespace: string; name: string } | undefined;
    for (;;) {
      const page = this.#store.list({ resource, namespace, after, limit: PAGE });
      for (const item of page.items) index.add(item.object());
      const last: Stored | undefined = page.items.at(-1);
      if (!page.more || !last) return index;
      after = last.key;
    }
  }

  #awake(): State {
    if (this.#state) return this.#state;
    const state: State = { roles: new Map(), cluster: undefined, namespaces: new Map(), stop: [] };
    const afterRv = this.#store.rv;
    const watch = (resource: string, deliver: (event: ChangeEvent) => void) => {
      state.stop.push(this.#store.watch({ resource, afterRv }, deliver));
    };
    const forget = ({ current: { key } }: ChangeEvent) => state.roles.delete(`${key.namespace}/${key.name}`);
    watch(ROLES, forget);
    watch(CLUSTER_ROLES, forget);
    watch(CLUSTER_BINDINGS, (event) => apply(state.cluster, event));
    watch(BINDINGS, (event) => {
      const { namespace } = event.current.key;
      apply(state.namespaces.get(namespace), event);
      if (event.type === 'DELETED' && this.#store.count(BINDINGS, namespace) === 0) state.namespaces.delete(namespace);
    });
    this.#state = state;
    return state;
  }
}

/** Brings an index up to date; one that is not loaded yet will read the new state anyway. */
function apply(index: SubjectIndex | undefined, event: ChangeEvent): void {
  if (!index) return;
  if (event.type === 'DELETED') return index.remove(event.current.object());
  // The index may have been loaded after this change was committed and before it was delivered.
  const old: KubeObject | undefined = event.previous?.object();
  if (old) index.remove(old);
  index.remove(event.current.object());
  index.add(event.current.object());
}

function source(binding: Binding): string {
  const { name, namespace, role, subject } = binding;
  const what = namespace
    ? `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
    : `ClusterRoleBinding ${JSON.stringify(name)}`;
  return `${what} of ${role.kind} ${JSON.stringify(role.name)} to ${subject}`;
}

function missing(role: RoleRef): string {
  return `${qualified(GROUP, role.kind.toLowerCase())} ${JSON.stringify(role.name)} not found`;
}

/** Several errors as Go's aggregate prints them: duplicates once, brackets only around more than one. */
export function aggregated(errors: string[]): string {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}
