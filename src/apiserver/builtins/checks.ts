/** Checks many kinds share, each returning the upstream texts. */
import { type FieldError, field } from '../status.ts';
import { type Any, items, same } from './fields.ts';
import { dns1123Label, dns1123Subdomain, labelValue, percent, portName, portNumber, qualifiedName } from './names.ts';

export const IMMUTABLE = 'field is immutable';

export function nonNegative(value: Any, path: string): FieldError[] {
  return typeof value === 'number' && value < 0
    ? [field.invalid(path, value, 'must be greater than or equal to 0')]
    : [];
}

export function immutable(value: Any, old: Any, path: string): FieldError[] {
  return same(value, old) ? [] : [field.invalid(path, value ?? null, IMMUTABLE)];
}

export function label(value: string, path: string): FieldError[] {
  return dns1123Label(value).map((text) => field.invalid(path, value, text));
}

export function subdomain(value: string, path: string): FieldError[] {
  return dns1123Subdomain(value).map((text) => field.invalid(path, value, text));
}

export function qualified(value: string, path: string): FieldError[] {
  return qualifiedName(value).map((text) => field.invalid(path, value, text));
}

/** One of a set: required when empty, else one of these. */
export function oneOf(value: Any, supported: string[], path: string): FieldError[] {
  if (!value) return [field.required(path)];
  return supported.includes(value) ? [] : [field.notSupported(path, value, supported)];
}

export function optionalOneOf(value: Any, supported: string[], path: string): FieldError[] {
  return value === undefined || value === null || supported.includes(value)
    ? []
    : [field.notSupported(path, value, supported)];
}

/** A port by number or name. */
export function portOrName(port: Any, path: string): FieldError[] {
  const texts = typeof port === 'string' ? portName(port) : portNumber(port ?? 0);
  return texts.map((text) => field.invalid(path, port ?? 0, text));
}

/** A count, or a share like `25%`, not negative. */
export function intOrPercent(value: Any, path: string): FieldError[] {
  if (typeof value === 'string') return percent(value).map((text) => field.invalid(path, value, text));
  return nonNegative(value, path);
}

export function atMostWhole(value: Any, path: string): FieldError[] {
  if (typeof value !== 'string' || !/^[0-9]+%$/.test(value)) return [];
  return Number(value.slice(0, -1)) > 100 ? [field.invalid(path, value, 'must not be greater than 100%')] : [];
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

export function labelSelector(selector: Any, path: string): FieldError[] {
  if (!selector) return [];
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries<string>(selector.matchLabels ?? {})) {
    for (const text of qualifiedName(key)) errors.push(field.invalid(`${path}.matchLabels`, key, text));
    for (const text of labelValue(value ?? '')) errors.push(field.invalid(`${path}.matchLabels`, value, text));
  }
  for (const [index, { key = '', operator, values }] of items(selector.matchExpressions).entries()) {
    const here = `${path}.matchExpressions[${index}]`;
    if (operator === 'In' || operator === 'NotIn') {
      if (items(values).length === 0) {
        errors.push(field.required(`${here}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (items(values).length) {
        errors.push(
          field.forbidden(`${here}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      }
    } else if (!OPERATORS.includes(operator)) {
      errors.push(field.invalid(`${here}.operator`, operator ?? '', 'not a valid selector operator'));
    }
    errors.push(...qualified(key, `${here}.key`));
    for (const [at, value] of items(values).entries()) {
      for (const text of labelValue(value)) errors.push(field.invalid(`${here}.values[${at}]`, value, text));
    }
  }
  return errors;
}

export function isEmptySelector(selector: Any): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length + items(selector?.matchExpressions).length === 0;
}

/** That a selector does not pick the template's pods; Go prints maps by their keys. */
export function mismatch(labels: Record<string, string> | undefined): FieldError {
  const shown = labels ? Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))) : null;
  return field.invalid('spec.template.metadata.labels', shown, '`selector` does not match template `labels`');
}

/** Does a LabelSelector pick these labels? */
export function selects(selector: Any, labels: Record<string, string> = {}): boolean {
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) if (labels[key] !== value) return false;
  return items(selector?.matchExpressions).every(({ key, operator, values }) => {
    const present = key in labels;
    if (operator === 'Exists') return present;
    if (operator === 'DoesNotExist') return !present;
    const listed = present && items(values).includes(labels[key]);
    return operator === 'In' ? listed : !listed;
  });
}

const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;

export function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

export function isIPv6(text: string): boolean {
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !text.includes(':')) return false;
  try {
    return new URL(`http://[${text}]/`).hostname.length > 0;
  } catch {
    return false;
  }
}

export function ip(value: Any, path: string): FieldError[] {
  const text = String(value ?? '');
  return isIPv4(text) || isIPv6(text)
    ? []
    : [field.invalid(path, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

export function cidr(value: Any, path: string): FieldError[] {
  const [address = '', bits = ''] = String(value ?? '').split('/');
  const max = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1;
  return /^\d+$/.test(bits) && Number(bits) <= max
    ? []
    : [field.invalid(path, value ?? '', 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
}
