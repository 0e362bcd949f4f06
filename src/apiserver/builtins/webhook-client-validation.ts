/** How a webhook is reached, as configurations and CRDs say it (k8s.io/apiserver/pkg/util/webhook/validation.go). */
import { type FieldError, field } from '../status.ts';
import { dns1123Subdomain } from './names.ts';

const FORM = '; desired format: https://host[/path]';

/** A URL as Go takes it apart: much is one that other readers refuse. */
const URL_PARTS = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([\s\S]*))?$/;

export function webhookUrl(text: string, path: string): FieldError[] {
  const problem = urlProblem(text);
  if (problem) {
    return [field.required(path, `url must be a valid URL: parse ${JSON.stringify(text)}: ${problem}${FORM}`)];
  }
  const [, scheme = '', authority = '', , query = '', fragment = ''] = URL_PARTS.exec(text) ?? [];
  const at = authority.lastIndexOf('@');
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https') {
    errors.push(field.invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${FORM}`));
  }
  if (authority.slice(at + 1) === '') errors.push(field.invalid(path, '', `host must be specified${FORM}`));
  if (at >= 0) {
    errors.push(field.invalid(path, authority.slice(0, at), 'user information is not permitted in the URL'));
  }
  if (fragment) errors.push(field.invalid(path, fragment, 'fragments are not permitted in the URL'));
  if (query) errors.push(field.invalid(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

function urlProblem(text: string): string | undefined {
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code < 0x20 || code === 0x7f) return 'net/url: invalid control character in URL';
  }
  if (text.startsWith(':')) return 'missing protocol scheme';
  const [, scheme, authority = '', pathname = ''] = URL_PARTS.exec(text) ?? [];
  const broken = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text);
  if (broken) return `invalid URL escape ${JSON.stringify(broken[0])}`;
  if (scheme === undefined && authority === '' && /^[^/]*:/.test(pathname)) {
    return 'first path segment in URL cannot contain colon';
  }
  const port = /:([^:\]]*)$/.exec(authority.slice(authority.lastIndexOf('@') + 1))?.[1];
  if (port && !/^\d+$/.test(port)) return `invalid port ${JSON.stringify(`:${port}`)} after host`;
  return undefined;
}

interface ServiceReference {
  namespace?: string;
  name?: string;
  path?: string;
  port?: number;
}

export function webhookService({ namespace, name, path, port = 443 }: ServiceReference, at: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!name) errors.push(field.required(`${at}.name`));
  if (!namespace) errors.push(field.required(`${at}.namespace`));
  if (port < 1 || port > 65535) {
    errors.push(field.invalid(`${at}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  errors.push(...servicePath(path ?? '', `${at}.path`));
  return errors;
}

function servicePath(path: string, at: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [field.invalid(at, path, 'segment[0] may not be empty')];
  const errors = path.startsWith('/') ? [] : [field.invalid(at, path, "must start with a '/'")];
  for (const [index, step] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') errors.push(field.invalid(at, path, `segment[${index}] may not be empty`));
    else for (const text of dns1123Subdomain(step)) errors.push(field.invalid(at, path, `segment[${index}]: ${text}`));
  }
  return errors;
}
