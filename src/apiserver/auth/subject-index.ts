/** Role bindings of one scope (the cluster, or one namespace), found by the subjects they name. */
import type { KubeObject } from '../../api/object.ts';
import type { Identity } from './identity.ts';

export interface RoleRef {
  kind: string;
  name: string;
}

export interface Binding {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly role: RoleRef;
  /** The subject by which it was found, for `allowed by …`. */
  readonly subject: string;
}

interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}

export class SubjectIndex {
  readonly #byUser = new Map<string, Binding[]>();
  readonly #byGroup = new Map<string, Binding[]>();

  add(object: KubeObject): void {
    const namespace = object.metadata.namespace ?? '';
    const role = { kind: String(object.roleRef?.kind), name: String(object.roleRef?.name) };
    for (const subject of (object.subjects ?? []) as Subject[]) {
      const place = this.#place(subject, namespace);
      if (!place) continue;
      const binding = { name: object.metadata.name ?? '', namespace, role, subject: described(subject, namespace) };
      const known = place.map.get(place.key);
      if (known) known.push(binding);
      else place.map.set(place.key, [binding]);
    }
  }

  remove(object: KubeObject): void {
    const namespace = object.metadata.namespace ?? '';
    for (const subject of (object.subjects ?? []) as Subject[]) {
      const place = this.#place(subject, namespace);
      if (!place) continue;
      const rest = place.map.get(place.key)?.filter((b) => b.name !== object.metadata.name) ?? [];
      if (rest.length) place.map.set(place.key, rest);
      else place.map.delete(place.key);
    }
  }

  /** Calls back with every binding of the identity until one call returns true. */
  some(identity: Identity, found: (binding: Binding) => boolean): boolean {
    for (const binding of this.#byUser.get(identity.user) ?? []) if (found(binding)) return true;
    for (const group of identity.groups) {
      for (const binding of this.#byGroup.get(group) ?? []) if (found(binding)) return true;
    }
    return false;
  }

  #place(subject: Subject, namespace: string): { map: Map<string, Binding[]>; key: string } | undefined {
    if (subject.kind === 'User') return { map: this.#byUser, key: subject.name };
    if (subject.kind === 'Group') return { map: this.#byGroup, key: subject.name };
    if (subject.kind !== 'ServiceAccount') return undefined;
    const home = subject.namespace || namespace;
    return home ? { map: this.#byUser, key: `system:serviceaccount:${home}:${subject.name}` } : undefined;
  }
}

function described(subject: Subject, namespace: string): string {
  const name = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${subject.kind} ${JSON.stringify(name)}`;
}
