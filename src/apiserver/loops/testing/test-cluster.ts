/** For tests: a cluster without HTTP — store, kinds and operations are the real ones — and a clock set by hand. */
import type { KubeObject } from '../../../api/object.ts';
import { type Clock, systemRandom } from '../../../clock.ts';
import { builtinPlugins } from '../../admission/index.ts';
import { RbacAuthorizer } from '../../auth/rbac.ts';
import { generateServiceAccountKey, loadServiceAccountKey } from '../../auth/service-account-key.ts';
import { ServiceAccountTokens } from '../../auth/service-account-tokens.ts';
import { operationsOn } from '../../handlers/index.ts';
import { Registry } from '../../kinds/registry.ts';
import type { DeleteOptions } from '../../operations.ts';
import type { Resource } from '../../resource.ts';
import { openStore } from '../../store/sqlite-store.ts';
import type { Loop, LoopContext } from '../loop.ts';
import { WRITE } from '../loop.ts';

export class ManualClock implements Clock {
  #now = Date.parse('2026-05-01T00:00:00Z');
  #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get pending(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers].filter((timer) => timer.at <= this.#now).sort((a, b) => a.at - b.at);
    for (const timer of due) if (this.#timers.delete(timer)) timer.callback();
  }
}

export class TestCluster {
  readonly clock = new ManualClock();
  readonly context: LoopContext;
  readonly warnings: string[] = [];
  #stops: (() => void)[] = [];

  constructor() {
    const store = openStore(':memory:', { clock: this.clock, retention: false });
    const registry = new Registry();
    const authorizer = new RbacAuthorizer(store);
    const admission = builtinPlugins();
    const shared = { store, registry, authorizer, admission, clock: this.clock, random: systemRandom };
    const keys = [loadServiceAccountKey(generateServiceAccountKey())];
    this.context = {
      ...shared,
      operations: operationsOn(shared),
      rootCa: 'THE CA',
      tokens: new ServiceAccountTokens({ ...shared, keys, issuer: 'https://us', audiences: ['us'] }),
      log: { warn: (message, fields) => this.warnings.push(`${message}: ${String(fields?.error)}`) },
    };
  }

  start(...loops: Loop[]): () => void {
    const stops = loops.map((loop) => loop(this.context));
    const stop = () => {
      for (const end of stops) end();
    };
    this.#stops.push(stop);
    return stop;
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.context.store.close();
  }

  resource(object: { apiVersion: string; kind: string }): Resource {
    const [version = '', group = ''] = object.apiVersion.split('/').reverse();
    const resource = this.context.registry.byKind(group, version, object.kind);
    if (!resource) throw new Error(`no kind ${object.apiVersion} ${object.kind}`);
    return resource;
  }

  create(object: KubeObject): Promise<KubeObject> {
    return this.context.operations.create(
      this.resource(object),
      object.metadata.namespace ?? '',
      structuredClone(object),
      WRITE,
    );
  }

  get(object: KubeObject): KubeObject | undefined {
    const { name = '', namespace = '' } = object.metadata;
    return this.context.store.get({ resource: this.resource(object).storage, namespace, name })?.object();
  }

  delete(object: KubeObject, options: DeleteOptions = {}): Promise<unknown> {
    const { name = '', namespace = '' } = object.metadata;
    return this.context.operations.delete(this.resource(object), namespace, name, options, WRITE);
  }

  merge(object: KubeObject, body: object, subresource?: string): Promise<unknown> {
    const { name = '', namespace = '' } = object.metadata;
    const options = { ...WRITE, subresource };
    return this.context.operations.patch(this.resource(object), namespace, name, { type: 'merge', body }, options);
  }

  /** Waits for something that loops bring about; retries they have planned are made to happen. */
  async until(condition: () => boolean, what = String(condition)): Promise<void> {
    const end = Date.now() + 5000;
    while (!condition()) {
      if (Date.now() > end) throw new Error(`never came true: ${what}\n${this.warnings.join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      this.clock.advance(20);
    }
  }

  /** Gives loops time to do what they should not do. */
  async settle(): Promise<void> {
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      this.clock.advance(20);
    }
  }
}

export function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export function configMap(place: string, name: string, ...owners: KubeObject[]): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: place, ...(owners.length ? { ownerReferences: owners.map((o) => ownerRef(o)) } : {}) },
  };
}

export function ownerRef({ apiVersion, kind, metadata }: KubeObject, blockOwnerDeletion?: boolean) {
  const { name = '', uid = '' } = metadata;
  return { apiVersion, kind, name, uid, ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }) };
}
