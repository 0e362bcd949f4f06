/**
 * The webhooks of a cluster in the order they are called: by the name of their configuration, then as they stand in it.
 * Fed by the store's events, so that a write asks for nothing; without configurations there is nothing to look at.
 */

import type { ChangeEvent, Store } from '../../store/store.ts';
import { listObjects } from '../admission.ts';
import { type Hook, hooksOf } from './hook.ts';

const GROUP = 'admissionregistration.k8s.io';

class HookList {
  readonly #resource: string;
  readonly #byConfiguration = new Map<string, Hook[]>();
  hooks: readonly Hook[] = [];

  constructor(plural: string) {
    this.#resource = `${GROUP}/${plural}`;
  }

  /** Returns the end of the watch. */
  follow(store: Store): () => void {
    const afterRv = store.rv;
    for (const configuration of listObjects(store, this.#resource)) {
      this.#byConfiguration.set(configuration.metadata.name ?? '', hooksOf(configuration));
    }
    this.#order();
    return store.watch({ resource: this.#resource, afterRv }, (event) => this.#changed(event));
  }

  #changed({ type, current }: ChangeEvent): void {
    if (type === 'DELETED') this.#byConfiguration.delete(current.key.name);
    else this.#byConfiguration.set(current.key.name, hooksOf(current.object()));
    this.#order();
  }

  #order(): void {
    const names = [...this.#byConfiguration.keys()].sort();
    this.hooks = names.flatMap((name) => this.#byConfiguration.get(name) ?? []);
  }
}

export class WebhookConfigurations {
  readonly #mutating = new HookList('mutatingwebhookconfigurations');
  readonly #validating = new HookList('validatingwebhookconfigurations');

  get mutating(): readonly Hook[] {
    return this.#mutating.hooks;
  }

  get validating(): readonly Hook[] {
    return this.#validating.hooks;
  }

  follow(store: Store): () => void {
    const stops = [this.#mutating.follow(store), this.#validating.follow(store)];
    return () => {
      for (const stop of stops) stop();
    };
  }
}
