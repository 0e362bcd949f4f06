/** Webhooks in the chain of admission; their order among the plug-ins is the chain's business. */
import type { Clock, Random } from '../../../clock.ts';
import type { Authorizer } from '../../auth/identity.ts';
import type { Registry } from '../../kinds/registry.ts';
import type { Store } from '../../store/store.ts';
import type { WebhookClient } from '../../webhook-client/webhook-client.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { WebhookConfigurations } from './configurations.ts';
import { mutatingWebhooks } from './mutating.ts';
import { validatingWebhooks } from './validating.ts';

export interface WebhookOptions {
  store: Store;
  registry: Registry;
  authorizer: Authorizer;
  client: WebhookClient;
  clock: Clock;
  random: Random;
}

export interface Webhooks {
  mutating: AdmissionPlugin;
  validating: AdmissionPlugin;
  stop(): void;
}

export function webhooks(options: WebhookOptions): Webhooks {
  const configurations = new WebhookConfigurations();
  const context = { ...options, configurations };
  return {
    mutating: mutatingWebhooks(context),
    validating: validatingWebhooks(context),
    stop: configurations.follow(options.store),
  };
}
