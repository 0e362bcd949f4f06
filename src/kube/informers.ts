/** One informer for each resource and selection, shared by everyone who asks. */
import type { KubeObject } from '../api/object.ts';
import { Informer, type InformerOptions } from './informer.ts';
import { shareSignal } from './share-signal.ts';
import { apiVersionOf, type ResourceRef, type Selection } from './store.ts';

export type InformersOptions = Omit<InformerOptions, 'resource' | 'selection' | 'transform'> & {
  /** Default: drops `managedFields`, often half of an object, which no reconciler reads. */
  transform?: (object: KubeObject) => KubeObject;
  /** Of namespaced kinds, only what is in this namespace is seen. Default: all namespaces. */
  namespace?: string;
};

export class Informers {
  readonly #options: Omit<InformersOptions, 'namespace'>;
  readonly #namespace: string | undefined;
  readonly #informers = new Map<string, Informer>();
  #signal: AbortSignal | undefined;
  #runs: Promise<void>[] = [];

  constructor({ namespace, ...options }: InformersOptions) {
    this.#options = options;
    this.#namespace = namespace;
  }

  /** Starts at once if the others have been started. */
  for<T extends KubeObject = KubeObject>(resource: ResourceRef, asked: Selection = {}): Informer<T> {
    const within = resource.namespaced && this.#namespace ? { namespace: this.#namespace } : {};
    const selection = { ...within, ...asked };
    const { namespace = '', labelSelector = '', fieldSelector = '' } = selection;
    const id = [apiVersionOf(resource), resource.plural, namespace, labelSelector, fieldSelector].join('|');
    let informer = this.#informers.get(id);
    if (!informer) {
      informer = new Informer({ transform: withoutManagedFields, ...this.#options, resource, selection });
      this.#informers.set(id, informer);
      if (this.#signal) this.#runs.push(informer.run(this.#signal));
    }
    return informer as unknown as Informer<T>;
  }

  start(signal: AbortSignal): void {
    if (this.#signal) return;
    this.#signal = signal;
    shareSignal(signal);
    for (const informer of this.#informers.values()) this.#runs.push(informer.run(signal));
  }

  /** What has not been read yet, and why not, one sentence each. */
  get missing(): string[] {
    return [...this.#informers]
      .filter(([, informer]) => !informer.hasSynced)
      .map(([id, { lastError }]) => {
        const plural = id.split('|')[1];
        return lastError ? `${plural} cannot be read: ${(lastError as Error).message}` : `${plural} are being read`;
      });
  }

  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.whenSynced(signal)));
  }

  /** Resolves when every informer has ended, after the signal given to `start` aborted. */
  async stopped(): Promise<void> {
    await Promise.all(this.#runs);
  }
}

function withoutManagedFields(object: KubeObject): KubeObject {
  if (!object.metadata.managedFields) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
