/**
 * Conversion by a webhook (`spec.conversion.strategy: Webhook`): objects go there in one version and come back in
 * another. Only labels and annotations of their metadata may differ then; texts are the real server's.
 */
import type { KubeObject, ObjectMeta } from '../../api/object.ts';
import type { Random } from '../../clock.ts';
import { labelValue, qualifiedName } from '../builtins/names.ts';
import { clone, equal } from '../json.ts';
import type { Conversion } from '../resource.ts';
import { ApiError, shown } from '../status.ts';
import type { WebhookClient } from '../webhook-client/webhook-client.ts';
import type { Crd } from './crd.ts';

/** As long as API clients wait that say nothing else. */
const TIMEOUT_MS = 30_000;

export interface ConversionContext {
  client: WebhookClient;
  random: Random;
}

/** Undefined where versions differ in nothing but their name. */
export function conversionOf(crd: Crd, context: ConversionContext): Conversion | undefined {
  const { strategy, webhook } = crd.spec.conversion ?? {};
  if (strategy !== 'Webhook' || !webhook?.clientConfig) return undefined;
  return new ConversionWebhook(webhook.clientConfig, webhook.conversionReviewVersions ?? [], context);
}

type ClientConfig = NonNullable<NonNullable<NonNullable<Crd['spec']['conversion']>['webhook']>['clientConfig']>;

class ConversionWebhook implements Conversion {
  readonly #config: ClientConfig;
  readonly #reviewVersion: string | undefined;
  readonly #context: ConversionContext;

  constructor(config: ClientConfig, reviewVersions: string[], context: ConversionContext) {
    this.#config = config;
    this.#reviewVersion = reviewVersions.find((version) => version === 'v1' || version === 'v1beta1');
    this.#context = context;
  }

  /** One call; who has many objects sends them in portions. */
  async convert(objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> {
    const what = `conversion webhook for ${kindText(objects[0] as KubeObject)}`;
    const uid = this.#context.random.uuid();
    let results: unknown[];
    try {
      const version = this.#reviewVersion;
      if (!version) throw new Error('no supported conversion review versions found');
      const request = { uid, desiredAPIVersion: apiVersion, objects };
      const review = { kind: 'ConversionReview', apiVersion: `apiextensions.k8s.io/${version}`, request };
      const answer = await this.#context.client.call(this.#config, JSON.stringify(review), TIMEOUT_MS);
      results = convertedObjects(answer, version, uid);
    } catch (error) {
      throw failure(`${what} failed: ${(error as Error).message}`);
    }
    if (results.length !== objects.length) {
      throw failure(`${what} returned ${results.length} objects, expected ${objects.length}`);
    }
    return results.map((result, index) => {
      try {
        return checked(objects[index] as KubeObject, result, apiVersion);
      } catch (error) {
        throw failure(`${what} returned invalid ${(error as Error).message}`);
      }
    });
  }
}

/** What the real server answers for errors it has no better word for: 500 without a reason. */
function failure(message: string): ApiError {
  return new ApiError(500, '', message);
}

/** `stable.example.com/v1, Kind=CronTab`. */
function kindText({ apiVersion, kind }: KubeObject): string {
  return `${apiVersion}, Kind=${kind}`;
}

function convertedObjects(answer: unknown, version: string, uid: string): unknown[] {
  const { apiVersion = '', kind = '', response } = answer as Record<string, unknown>;
  if (version === 'v1' && (apiVersion !== 'apiextensions.k8s.io/v1' || kind !== 'ConversionReview')) {
    const got = `${String(apiVersion).includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
    throw new Error(`expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got ${got}`);
  }
  if (typeof response !== 'object' || response === null) throw new Error('no response provided');
  const given = response as { uid?: string; result?: Record<string, unknown>; convertedObjects?: unknown };
  if (version === 'v1' && given.uid !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given.uid ?? '')}`);
  }
  const { status = '', message } = given.result ?? {};
  if (status !== 'Success') {
    throw new Error(message ? String(message) : `response.result.status was '${status}', not 'Success'`);
  }
  return Array.isArray(given.convertedObjects) ? given.convertedObjects : [];
}

/** Errors name the part that is wrong; objects are numbered from 0 each, since the real server sends them one by one. */
function checked(original: KubeObject, result: unknown, apiVersion: string): KubeObject {
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw new Error('object at index 0: it is no object');
  const converted = result as KubeObject;
  const same = (name: string, expected: unknown, received: unknown) => {
    if ((expected ?? '') !== (received ?? '')) {
      throw new Error(`object at index 0: invalid ${name} (expected ${expected ?? ''}, received ${received ?? ''})`);
    }
  };
  same('groupVersion', apiVersion, converted.apiVersion);
  same('kind', original.kind, converted.kind);
  const [before, after] = [original.metadata, converted.metadata];
  if (after === undefined) throw new Error('metadata: missing metadata in converted object');
  if (typeof after !== 'object' || after === null || Array.isArray(after)) {
    throw new Error(`metadata: invalid metadata of type ${typeof after} in converted object`);
  }
  for (const [name, key] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['UID', 'uid'],
  ] as const) {
    const [e, a] = [before[key] ?? '', after[key] ?? ''];
    if (e !== a) throw new Error(`object: must have the same ${name}: ${e} != ${a}`);
  }
  return { ...converted, metadata: restored(before, after) };
}

/** The original's metadata with the labels and annotations of the answer. */
function restored(before: ObjectMeta, after: ObjectMeta): ObjectMeta {
  const metadata = clone(before);
  for (const part of ['labels', 'annotations'] as const) {
    const given: unknown = after[part];
    if (given === undefined || given === null) {
      delete metadata[part];
      continue;
    }
    if (typeof given !== 'object' || Array.isArray(given)) {
      throw new Error(`metadata: invalid metadata.${part} of type ${typeof given} in converted object`);
    }
    for (const [key, value] of Object.entries(given)) {
      if (typeof value === 'string') continue;
      throw new Error(
        `metadata: metadata.${part}[${key}] must be a string, but is ${typeof value} in converted object`,
      );
    }
    const texts = given as Record<string, string>;
    if (!equal(before[part] ?? {}, texts)) checkNames(part, texts);
    metadata[part] = texts;
  }
  return metadata;
}

function checkNames(part: 'labels' | 'annotations', texts: Record<string, string>): void {
  const path = part === 'labels' ? 'metadata.labels' : 'metadata.annotation';
  const errors: string[] = [];
  for (const [key, value] of Object.entries(texts)) {
    const name = part === 'labels' ? key : key.toLowerCase();
    for (const text of qualifiedName(name)) errors.push(`${path}: Invalid value: ${shown(key)}: ${text}`);
    if (part !== 'labels') continue;
    for (const text of labelValue(value)) errors.push(`${path}: Invalid value: ${shown(value)}: ${text}`);
  }
  if (errors.length > 0) throw new Error(`metadata: ${errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`}`);
}
