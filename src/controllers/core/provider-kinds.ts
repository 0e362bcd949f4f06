/**
 * The kinds that providers bring, found as Cluster API finds them: a reference names group and kind, and the labels of
 * the CustomResourceDefinition say in which version the kind meets the contract. Follows the CRDs, so that a kind may
 * be installed after the objects that refer to it. Of each CRD only its metadata and names are kept.
 */
import type { KubeObject } from '../../api/object.ts';
import { customResourceDefinitions } from '../../api/resources.ts';
import { Informer, type InformerOptions, type ResourceRef, TerminalError } from '../../kube/index.ts';

const CONTRACT_LABEL = 'cluster.x-k8s.io/v1beta2';

/** A reference of contract v1beta2: no version, no namespace. */
export interface Reference {
  apiGroup: string;
  kind: string;
  name: string;
}

export type GroupKind = Pick<Reference, 'apiGroup' | 'kind'>;

export class ProviderKinds {
  readonly name = 'provider-kinds';
  readonly #crds: Informer;

  constructor(options: Pick<InformerOptions, 'store' | 'clock' | 'random' | 'log'>) {
    this.#crds = new Informer({ ...options, resource: customResourceDefinitions, transform: namesOnly });
    this.#crds.addIndex('kind', (crd) => [kindText({ apiGroup: crd.spec.group, kind: crd.spec.names.kind })]);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#crds.run(signal);
  }

  whenSynced(signal?: AbortSignal): Promise<void> {
    return this.#crds.whenSynced(signal);
  }

  /** The labels of the kind's CRD; undefined when there is no such kind. */
  labels(kind: GroupKind): Record<string, string> | undefined {
    const crd = this.#find(kind);
    return crd && (crd.metadata.labels ?? {});
  }

  crd(name: string): KubeObject | undefined {
    return this.#crds.get({ name });
  }

  /** Not found is final until a CRD changes. */
  names(kind: GroupKind): { plural: string } {
    return this.#known(kind).spec.names;
  }

  /** Where objects of the kind are read and written, in the version that meets the contract. */
  resource({ apiGroup, kind }: GroupKind): ResourceRef {
    const crd = this.#known({ apiGroup, kind });
    const version = contractVersion(crd.metadata.labels?.[CONTRACT_LABEL]);
    if (!version) {
      const fix = `the CustomResourceDefinition ${crd.metadata.name} needs the label ${CONTRACT_LABEL}`;
      throw new TerminalError(`${kind} does not say which version of it meets contract v1beta2: ${fix}`);
    }
    return { group: apiGroup, version, plural: crd.spec.names.plural, kind, namespaced: true };
  }

  /** Called with each kind that came, changed or went; `initial`: it was there from the start. */
  onChange(listener: (kind: GroupKind, crd: KubeObject, initial: boolean) => void): void {
    const tell = (crd: KubeObject, initial = false) =>
      listener({ apiGroup: crd.spec.group, kind: crd.spec.names.kind }, crd, initial);
    this.#crds.addHandler({ added: tell, updated: (crd) => tell(crd), deleted: (crd) => tell(crd) });
  }

  #known({ apiGroup, kind }: GroupKind): KubeObject {
    const crd = this.#find({ apiGroup, kind });
    if (crd) return crd;
    throw new TerminalError(`there is no kind ${kind} in group ${apiGroup}: its provider is not installed`);
  }

  #find(kind: GroupKind): KubeObject | undefined {
    return this.#crds.byIndex('kind', kindText(kind))[0];
  }
}

export function kindText({ apiGroup, kind }: GroupKind): string {
  return `${kind}.${apiGroup}`;
}

/** `v1alpha1_v1beta1` → the newest of them as Kubernetes counts: GA before beta before alpha, then by number. */
export function contractVersion(label: string | undefined): string | undefined {
  const versions = (label ?? '').split('_').filter(Boolean);
  return versions.sort((a, b) => compare(rank(b), rank(a)))[0];
}

function rank(version: string): number[] {
  const [, major = '0', stage, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  const stages = { alpha: 1, beta: 2 } as const;
  return [stage ? stages[stage as keyof typeof stages] : 3, Number(major), Number(minor)];
}

function compare(a: number[], b: number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}

function namesOnly(crd: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec } = crd;
  const { name, uid, labels, resourceVersion, deletionTimestamp } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, uid, labels, resourceVersion, ...(deletionTimestamp ? { deletionTimestamp } : {}) },
    spec: { group: spec?.group, names: { kind: spec?.names?.kind, plural: spec?.names?.plural } },
  };
}
