/** Lists of resources (`cpu: 500m`): canonical texts, and what may be in them. */
import { type FieldError, field } from '../status.ts';
import type { Any } from './fields.ts';
import { qualifiedName } from './names.ts';
import {
  canonicalQuantity,
  compareQuantity,
  formatQuantity,
  parseQuantity,
  type Quantity,
  QuantityError,
  roundUpToMilli,
} from './quantity.ts';

/** Rewrites a field that holds one quantity to canonical text; leaves what does not parse for validation. */
export function normalizeQuantity(target: Any, name: string): void {
  const value = target?.[name];
  if (typeof value !== 'string' && typeof value !== 'number') return;
  try {
    target[name] = canonicalQuantity(value);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
  }
}

export function normalizeResourceList(list: Any): void {
  if (!list || typeof list !== 'object') return;
  for (const [name, value] of Object.entries(list)) {
    try {
      list[name] = formatQuantity(roundUpToMilli(parseQuantity(value as string)));
    } catch (error) {
      if (!(error instanceof QuantityError)) throw error;
    }
  }
}

export function normalizeResources(resources: Any): void {
  normalizeResourceList(resources?.limits);
  normalizeResourceList(resources?.requests);
}

export function readQuantity(value: unknown): Quantity | undefined {
  try {
    return parseQuantity(value as string);
  } catch {
    return undefined;
  }
}

const STANDARD_CONTAINER = new Set(['cpu', 'memory', 'ephemeral-storage', 'storage']);

export function isStandardContainerResource(name: string): boolean {
  return STANDARD_CONTAINER.has(name) || name.startsWith('hugepages-');
}

function isNative(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

export function isExtendedResource(name: string): boolean {
  if (isNative(name) || name.startsWith('requests.')) return false;
  return qualifiedName(`requests.${name}`).length === 0;
}

const STANDARD = /^((requests|limits)\.)?(cpu|memory|ephemeral-storage|storage)$/;
const COUNTED = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

/** A name Kubernetes knows, or one with a domain. */
export function validateResourceName(name: string, path: string): FieldError[] {
  const errors = qualifiedName(name).map((text) => field.invalid(path, name, text));
  if (errors.length || name.includes('/')) return errors;
  const known = STANDARD.test(name) || COUNTED.has(name) || /^(requests\.|limits\.)?hugepages-/.test(name);
  return known ? [] : [field.invalid(path, name, 'must be a standard resource type or fully qualified')];
}

/** Resource names in containers: standard ones, or qualified. */
export function validateContainerResourceName(name: string, path: string): FieldError[] {
  const errors = validateResourceName(name, path);
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name)) {
      errors.push(field.invalid(path, name, 'must be a standard resource for containers'));
    }
  } else if (!isNative(name) && !isExtendedResource(name)) {
    errors.push(field.invalid(path, name, "doesn't follow extended resource name standard"));
  }
  return errors;
}

/** A quantity that parses and is not negative; the number itself is returned for further checks. */
export function validateNonNegativeQuantity(value: unknown, path: string, errors: FieldError[]): Quantity | undefined {
  let quantity: Quantity;
  try {
    quantity = parseQuantity(value as string);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    errors.push(field.invalid(path, value, error.message));
    return undefined;
  }
  if (quantity.nano < 0n) errors.push(field.invalid(path, value, 'must be greater than or equal to 0'));
  return quantity;
}

const INTEGER_RESOURCES = new Set(['pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets']);

function isInteger(name: string): boolean {
  return INTEGER_RESOURCES.has(name) || isExtendedResource(name) || name.startsWith('count/');
}

export function validateResourceQuantity(name: string, value: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const quantity = validateNonNegativeQuantity(value, path, errors);
  if (quantity && isInteger(name) && quantity.nano % 1_000_000_000n !== 0n) {
    errors.push(field.invalid(path, value, 'must be an integer'));
  }
  return errors;
}

/** `resources` of a container: names, syntax, request ≤ limit. */
export function validateResources(resources: Any, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const limits = resources?.limits ?? {};
  const requests = resources?.requests ?? {};
  for (const [name, value] of Object.entries(limits)) {
    const here = `${path}.limits`;
    errors.push(...validateContainerResourceName(name, `${here}[${name}]`));
    errors.push(...validateResourceQuantity(name, value, `${here}[${name}]`));
  }
  for (const [name, value] of Object.entries(requests)) {
    const here = `${path}.requests`;
    errors.push(...validateContainerResourceName(name, `${here}[${name}]`));
    errors.push(...validateResourceQuantity(name, value, `${here}[${name}]`));
    const limit = readQuantity(limits[name]);
    const request = readQuantity(value);
    if (limit && request) {
      const overcommit = isNative(name) && !name.startsWith('hugepages-');
      if (!overcommit && compareQuantity(request, limit) !== 0) {
        errors.push(
          field.invalid(here, formatQuantity(request), `must be equal to ${name} limit of ${formatQuantity(limit)}`),
        );
      } else if (overcommit && compareQuantity(request, limit) > 0) {
        const text = `must be less than or equal to ${name} limit of ${formatQuantity(limit)}`;
        errors.push(field.invalid(here, formatQuantity(request), text));
      }
    } else if (request && limits[name] === undefined && (!isNative(name) || name.startsWith('hugepages-'))) {
      errors.push(field.required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
    }
  }
  return errors;
}
