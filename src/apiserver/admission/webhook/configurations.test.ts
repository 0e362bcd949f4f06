// The list of webhooks follows the store by itself: no write has to look for configurations.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../../clock.ts';
import { openStore } from '../../store/sqlite-store.ts';
import type { Store } from '../../store/store.ts';
import { WebhookConfigurations } from './configurations.ts';
import { mutatingWebhooks } from './mutating.ts';
import { validatingWebhooks } from './validating.ts';

let store: Store;
let configurations: WebhookConfigurations;
let stop: () => void;

beforeEach(async () => {
  store = openStore(':memory:', { clock: systemClock });
  configurations = new WebhookConfigurations();
  await put('m', 'first.example.com');
  stop = configurations.follow(store);
});

afterEach(async () => {
  stop();
  await store.close();
});

const key = (name: string, type = 'validating') => ({
  resource: `admissionregistration.k8s.io/${type}webhookconfigurations`,
  namespace: '',
  name,
});

function put(name: string, ...hooks: string[]) {
  const webhooks = hooks.map((hook) => ({ name: hook, clientConfig: { url: 'https://a/' } }));
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const object = { apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name }, webhooks };
  return store.write((tx) => tx.put(key(name), object));
}

const names = () => configurations.validating.map(({ configuration, name }) => `${configuration}/${name}`);

it('has what was there, and what comes, changes and goes, by the name of the configuration', async () => {
  expect(names()).toEqual(['m/first.example.com']);
  await put('z', 'last.example.com');
  await put('a', 'two.example.com', 'one.example.com');
  expect(names()).toEqual(['a/two.example.com', 'a/one.example.com', 'm/first.example.com', 'z/last.example.com']);
  await put('m', 'changed.example.com');
  await store.write((tx) => tx.delete(key('a')));
  expect(names()).toEqual(['m/changed.example.com', 'z/last.example.com']);
  expect(configurations.mutating).toEqual([]);
});

it('tells webhooks of one name apart', async () => {
  await put('m', 'same.example.com', 'same.example.com');
  expect(new Set(configurations.validating.map(({ uid }) => uid)).size).toBe(2);
});

it('a write of a cluster without webhooks asks the store for nothing', async () => {
  await store.write((tx) => tx.delete(key('m')));
  const asked = [vi.spyOn(store, 'get'), vi.spyOn(store, 'list'), vi.spyOn(store, 'count')];
  const context = { configurations } as never;
  const attributes = { resource: { group: '', kind: 'Pod' } } as never;
  expect(mutatingWebhooks(context).handles(attributes)).toBe(false);
  expect(validatingWebhooks(context).handles(attributes)).toBe(false);
  for (const spy of asked) expect(spy).not.toHaveBeenCalled();
});
