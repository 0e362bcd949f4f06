/** spec.conversion: None, or a webhook that can be called. Paths keep upstream's internal names. */
import { X509Certificate } from 'node:crypto';
import { dns1035Label } from '../builtins/names.ts';
import { type FieldError, field } from '../status.ts';
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
    } else if (client.url !== undefined) errors.push(...urlRules(client.url, `${config}.url`));
    else if (client.service) errors.push(...serviceRules(client.service, `${config}.service`));
    if (client.caBundle && strict && !isCaBundle(client.caBundle)) {
      const text = 'unable to load root certificates: unable to parse bytes as PEM block';
      errors.push(field.invalid(`${config}.caBundle`, client.caBundle, text));
    }
  }
  errors.push(...reviewVersionRules(webhook?.conversionReviewVersions ?? [], versions));
  return errors;
}

function urlRules(url: string, path: string): FieldError[] {
  const form = '; desired format: https://host[/path]';
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return [
      field.required(path, `url must be a valid URL: parse ${JSON.stringify(url)}: invalid URI for request${form}`),
    ];
  }
  const errors: FieldError[] = [];
  if (parsed.protocol !== 'https:') {
    errors.push(field.invalid(path, parsed.protocol.slice(0, -1), `'https' is the only allowed URL scheme${form}`));
  }
  if (parsed.host === '') errors.push(field.invalid(path, '', `host must be specified${form}`));
  if (parsed.username || parsed.password) {
    errors.push(field.invalid(path, parsed.username, 'user information is not permitted in the URL'));
  }
  if (parsed.hash) errors.push(field.invalid(path, parsed.hash.slice(1), 'fragments are not permitted in the URL'));
  if (parsed.search) {
    errors.push(field.invalid(path, parsed.search.slice(1), 'query parameters are not permitted in the URL'));
  }
  return errors;
}

type Service = NonNullable<NonNullable<NonNullable<CrdConversion['webhook']>['clientConfig']>['service']>;

function serviceRules(service: Service, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!service.name) errors.push(field.required(`${path}.name`, 'service name is required'));
  if (!service.namespace) errors.push(field.required(`${path}.namespace`, 'service namespace is required'));
  const port = service.port ?? 443;
  if (port < 1 || port > 65535) {
    const text = 'port is not valid: must be between 1 and 65535, inclusive';
    errors.push(field.invalid(`${path}.port`, port, text));
  }
  if (service.path && !service.path.startsWith('/')) {
    errors.push(field.invalid(`${path}.path`, service.path, "must start with a '/'"));
  }
  return errors;
}

export function isCaBundle(bundle: string): boolean {
  const pem = Buffer.from(bundle, 'base64').toString('utf8');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g);
  if (blocks === null) return false;
  try {
    for (const block of blocks) new X509Certificate(block);
    return true;
  } catch {
    return false;
  }
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
