/** Which objects a list or watch shows, and what a change looks like through that window. */
import { type LabelSelector, matchesLabels } from '../../api/label-selector.ts';
import { type FieldSelector, matchesFields } from '../field-selector.ts';
import type { Resource } from '../resource.ts';
import type { ChangeEvent, Stored } from '../store/store.ts';
import { viewed } from './stored-form.ts';

export interface Selection {
  labels: LabelSelector;
  fields: FieldSelector;
}

export function selects(resource: Resource, { labels, fields }: Selection, stored: Stored): boolean {
  if (fields.name !== undefined && stored.key.name !== fields.name) return false;
  if (labels.length === 0 && fields.terms.length === 0) return true;
  const object = viewed(resource, stored);
  return matchesLabels(labels, object.metadata.labels) && matchesFields(fields, object);
}

/** The namespace to read. That of the path is the one the caller was authorised for: a selector narrows it, no more. */
export function scopeOf(namespace: string, { fields }: Selection): string | undefined {
  return namespace || fields.namespace || undefined;
}

export interface SeenChange {
  type: ChangeEvent['type'];
  stored: Stored;
  /** Set where the content is older than the change: the version to show instead. */
  rv?: number;
}

/** An object that starts to match is added, one that stops is deleted, with its last matching content. */
export function seenChange(resource: Resource, selection: Selection, event: ChangeEvent): SeenChange | undefined {
  const matches = selects(resource, selection, event.current);
  const matched = event.previous !== undefined && selects(resource, selection, event.previous);
  if (event.type === 'DELETED') return matched ? { type: 'DELETED', stored: event.current } : undefined;
  if (matches) return { type: matched ? 'MODIFIED' : 'ADDED', stored: event.current };
  return matched && event.previous ? { type: 'DELETED', stored: event.previous, rv: event.rv } : undefined;
}
