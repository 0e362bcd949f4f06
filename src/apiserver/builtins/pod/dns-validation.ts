/** A pod's own DNS settings (core/validation: validatePodDNSConfig). */
import { type FieldError, field } from '../../status.ts';
import { ip } from '../checks.ts';
import { type Any, items } from '../fields.ts';
import { searchDomain } from '../names.ts';

const MOST_NAMESERVERS = 3;
const MOST_SEARCHES = 32;
const LONGEST_SEARCH_LIST = 2048;

export function validateDns(config: Any, policy: string, path: string): FieldError[] {
  if (policy === 'None') {
    if (!config) return [field.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (items(config.nameservers).length === 0) {
      const text = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [field.required(`${path}.nameservers`, text)];
    }
  }
  if (!config) return [];
  const errors: FieldError[] = [];
  const nameservers = items(config.nameservers);
  if (nameservers.length > MOST_NAMESERVERS) {
    const text = `must not have more than ${MOST_NAMESERVERS} nameservers`;
    errors.push(field.invalid(`${path}.nameservers`, nameservers, text));
  }
  for (const [index, address] of nameservers.entries()) errors.push(...ip(address, `${path}.nameservers[${index}]`));
  errors.push(...validateSearches(items(config.searches), `${path}.searches`));
  for (const [index, { name }] of items(config.options).entries()) {
    if (!name) errors.push(field.required(`${path}.options[${index}]`, 'must not be empty'));
  }
  return errors;
}

function validateSearches(searches: string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > MOST_SEARCHES) {
    errors.push(field.invalid(path, searches, `must not have more than ${MOST_SEARCHES} search paths`));
  }
  if (searches.join(' ').length > LONGEST_SEARCH_LIST) {
    const text = `must not have more than ${LONGEST_SEARCH_LIST} characters (including spaces) in the search list`;
    errors.push(field.invalid(path, searches, text));
  }
  for (const [index, search] of searches.entries()) {
    if (search === '.') continue;
    const domain = search.replace(/\.$/, '');
    errors.push(...searchDomain(domain).map((text) => field.invalid(`${path}[${index}]`, domain, text)));
  }
  return errors;
}
