/**
 * The policies of a cluster with their bindings, by name. Fed by the store's events, so that a write asks for nothing;
 * without bindings there is nothing to look at. Expressions are compiled when a request first needs them.
 */
import type { KubeObject } from '../../../api/object.ts';
import type { Admission } from '../../cel/admission-environment.ts';
import type { ChangeEvent, Store } from '../../store/store.ts';
import { listObjects } from '../admission.ts';
import { type Evaluation, Evaluator } from './evaluator.ts';
import { type Criteria, criteriaOf } from './match.ts';
import type { BindingSpec, PolicySpec } from './policy.ts';

export const POLICIES = 'admissionregistration.k8s.io/validatingadmissionpolicies';
const BINDINGS = 'admissionregistration.k8s.io/validatingadmissionpolicybindings';

export class BoundPolicy {
  readonly name: string;
  readonly spec: PolicySpec;
  readonly criteria: Criteria;
  bindings: readonly PolicyBinding[] = [];
  #evaluator: Evaluator | undefined;

  constructor({ metadata, spec }: KubeObject) {
    this.name = metadata.name ?? '';
    this.spec = (spec ?? {}) as PolicySpec;
    this.criteria = criteriaOf(this.spec.matchConstraints);
  }

  *evaluate(admission: Admission): Generator<void, Evaluation> {
    if (!this.#evaluator) {
      this.#evaluator = new Evaluator(this.spec);
      yield;
    }
    return yield* this.#evaluator.evaluate(admission);
  }
}

export interface PolicyBinding {
  name: string;
  spec: BindingSpec;
  criteria: Criteria;
}

export class Policies {
  readonly #policies = new Map<string, BoundPolicy>();
  readonly #bindings = new Map<string, PolicyBinding>();
  /** Those that have bindings, in the order of their names. */
  bound: readonly BoundPolicy[] = [];

  /** Returns the end of the watch. */
  follow(store: Store): () => void {
    const stops = [
      this.#followOne(store, POLICIES, this.#policies, (object) => new BoundPolicy(object)),
      this.#followOne(store, BINDINGS, this.#bindings, bindingOf),
    ];
    this.#connect();
    return () => {
      for (const stop of stops) stop();
    };
  }

  #followOne<T>(store: Store, resource: string, known: Map<string, T>, read: (object: KubeObject) => T): () => void {
    const afterRv = store.rv;
    for (const object of listObjects(store, resource)) known.set(object.metadata.name ?? '', read(object));
    return store.watch({ resource, afterRv }, ({ type, current }: ChangeEvent) => {
      if (type === 'DELETED') known.delete(current.key.name);
      else known.set(current.key.name, read(current.object()));
      this.#connect();
    });
  }

  #connect(): void {
    const byPolicy = new Map<string, PolicyBinding[]>();
    for (const name of [...this.#bindings.keys()].sort()) {
      const binding = this.#bindings.get(name) as PolicyBinding;
      const policy = binding.spec.policyName ?? '';
      byPolicy.set(policy, [...(byPolicy.get(policy) ?? []), binding]);
    }
    const bound: BoundPolicy[] = [];
    for (const name of [...byPolicy.keys()].sort()) {
      const policy = this.#policies.get(name);
      if (!policy) continue;
      policy.bindings = byPolicy.get(name) ?? [];
      bound.push(policy);
    }
    this.bound = bound;
  }
}

function bindingOf({ metadata, spec }: KubeObject): PolicyBinding {
  const read = (spec ?? {}) as BindingSpec;
  return { name: metadata.name ?? '', spec: read, criteria: criteriaOf(read.matchResources) };
}
