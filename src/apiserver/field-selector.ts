/** Field selectors: `metadata.name=x,status.phase!=Running`, on the fields a resource says can be selected. */
import type { KubeObject } from '../api/object.ts';
import { own } from './json.ts';
import type { Resource } from './resource.ts';
import { badRequest } from './status.ts';

interface Term {
  field: string;
  negated: boolean;
  value: string;
  read: (object: KubeObject) => string;
}

export interface FieldSelector {
  terms: readonly Term[];
  /** The one name or namespace it pins, so that a list can be a get. */
  name?: string;
  namespace?: string;
}

const METADATA: Record<string, (object: KubeObject) => string> = {
  'metadata.name': (object) => object.metadata.name ?? '',
  'metadata.namespace': (object) => object.metadata.namespace ?? '',
};

export function parseFieldSelector(text: string, resource: Resource): FieldSelector {
  const terms: Term[] = [];
  const selector: FieldSelector = { terms };
  for (const { field, negated, value } of requirements(text)) {
    const read = own(METADATA, field) ?? own(resource.selectableFields, field);
    if (!read || (field === 'metadata.namespace' && !resource.namespaced)) {
      throw badRequest(`field label not supported: ${field}`);
    }
    terms.push({ field, negated, value, read });
    if (!negated && field === 'metadata.name') selector.name = value;
    if (!negated && field === 'metadata.namespace') selector.namespace = value;
  }
  return selector;
}

/** The one object a selector can match, as authorisation wants to know it before the kind is looked at. */
export function selectedName(text: string): string | undefined {
  try {
    return requirements(text).find(({ field, negated }) => field === 'metadata.name' && !negated)?.value;
  } catch {
    // Refused when it is used, in the words of whoever uses it.
    return undefined;
  }
}

function requirements(text: string): Omit<Term, 'read'>[] {
  return split(text).map((part) => {
    const match = /^([^=!]+?)\s*(!=|==|=)(.*)$/s.exec(part);
    if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const [, field = '', operator, value = ''] = match;
    return { field, negated: operator === '!=', value: unescaped(value) };
  });
}

export function matchesFields(selector: FieldSelector, object: KubeObject): boolean {
  for (const term of selector.terms) if ((term.read(object) === term.value) === term.negated) return false;
  return true;
}

/** Splits at commas that are not escaped by a backslash. */
function split(text: string): string[] {
  return text
    .split(/(?<!\\),/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function unescaped(value: string): string {
  return value.replace(/\\([\\,=])/g, '$1');
}
