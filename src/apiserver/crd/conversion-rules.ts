/** spec.conversion: None, or a webhook that can be called. Paths keep upstream's internal names. */
import { dns1035Label } from '../builtins/names.ts';
import { webhookService, webhookUrl } from '../builtins/webhook-client-validation.ts';
import { type FieldError, field } from '../status.ts';
import { isCaBundle } from '../webhook-client/ca-bundle.ts';
import type { CrdConversion } from './crd.ts';

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/** `strict`: the CRD is established, so a broken CA bundle may not come in any more. */
export function conversionRules(conversion: CrdConversion | undefined, strict: boolean, path: string): FieldError[] {
  if (!conversion) return [];
  const errors: FieldError[] = [];
  const { strategy, webhook } = conversion;
  if (!strategy) errors.push(field.required(`${path}.strategy`));
  else if (!STRATEGIES.includes(strategy)) errors.push(field.notSupported(`${path}.strategy`, strategy, STRATEGIES));
  const config = `${path}.webhookClientConfig`;
  const versions = `${path}.conversionReviewVersions`;
  if (strategy !== 'Webhook') {
    const text = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig) errors.push(field.forbidden(config, text));
    if (webhook?.conversionReviewVersions?.length) errors.push(field.forbidden(versions, text));
    return errors;
  }
  const client = webhook?.clientConfig;
  if (!client) errors.push(field.required(config, 'required when strategy is set to Webhook'));
  else {
    if ((client.url === undefined) === (client.service === undefined)) {
      errors.push(field.required(config, 'exactly one of url or service is required'));
    } else if (client.url !== undefined) errors.push(...webhookUrl(client.url, `${config}.url`));
    else if (client.service) errors.push(...webhookService(client.service, `${config}.service`));
    if (client.caBundle && strict && !isCaBundle(client.caBundle)) {
      const text = 'unable to load root certificates: unable to parse bytes as PEM block';
      errors.push(field.invalid(`${config}.caBundle`, client.caBundle, text));
    }
  }
  errors.push(...reviewVersionRules(webhook?.conversionReviewVersions ?? [], versions));
  return errors;
}

function reviewVersionRules(versions: string[], path: string): FieldError[] {
  if (versions.length === 0) return [field.required(path)];
  const errors: FieldError[] = [];
  versions.forEach((version, i) => {
    if (versions.indexOf(version) < i) errors.push(field.invalid(`${path}[${i}]`, version, 'duplicate version'));
    else for (const text of dns1035Label(version)) errors.push(field.invalid(`${path}[${i}]`, version, text));
  });
  if (!versions.some((v) => REVIEW_VERSIONS.includes(v))) {
    errors.push(field.invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return errors;
}
