/** Query parameters of list and watch, checked as the real server checks them. */
import { EVERYTHING, type LabelSelector, parseLabelSelector, SelectorError } from '../../api/label-selector.ts';
import { type FieldSelector, parseFieldSelector } from '../field-selector.ts';
import type { Resource } from '../resource.ts';
import { badRequest, type FieldError, field, invalid } from '../status.ts';
import { isTrue, type ResourceRoute } from './route.ts';

export interface ListOptions {
  labels: LabelSelector;
  fields: FieldSelector;
  limit?: number;
  continue?: string;
  /** Undefined when not given; 0 means "any". */
  resourceVersion?: number;
  match?: 'Exact' | 'NotOlderThan';
  timeoutSeconds?: number;
  bookmarks: boolean;
  sendInitialEvents?: boolean;
}

export function parseListOptions(query: URLSearchParams, resource: Resource, route: ResourceRoute): ListOptions {
  const isWatch = route.verb === 'watch';
  const errors: FieldError[] = [];
  const match = query.get('resourceVersionMatch') ?? '';
  const version = query.get('resourceVersion') ?? '';
  const sendInitial = query.get('sendInitialEvents');
  const token = query.get('continue') ?? '';
  if (sendInitial !== null && !isWatch) {
    errors.push(field.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (isWatch && match && sendInitial === null) {
    errors.push(
      field.forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (isWatch && sendInitial !== null && match !== 'NotOlderThan') {
    const detail = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    errors.push(
      match
        ? field.notSupported('resourceVersionMatch', match, ['NotOlderThan'])
        : field.forbidden('resourceVersionMatch', detail),
    );
  }
  if (!isWatch && match) {
    if (!version)
      errors.push(
        field.forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      );
    if (token)
      errors.push(
        field.forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'),
      );
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(field.notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && version === '0') {
      errors.push(
        field.forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
    }
  }
  if (errors.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', errors);
  if (token && version && version !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', resource);
  return {
    labels: labelsOf(query.get('labelSelector')),
    fields: route.name ? { ...fields, name: route.name } : fields,
    limit: integer(query, 'limit') || undefined,
    continue: token || undefined,
    resourceVersion: version === '' ? undefined : parseVersion(version),
    match: (match || undefined) as ListOptions['match'],
    timeoutSeconds: integer(query, 'timeoutSeconds'),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: sendInitial === null ? undefined : isTrue(sendInitial),
  };
}

export function parseVersion(text: string): number {
  const isNumber = /^\d+$/.test(text);
  if (isNumber && BigInt(text) < 2n ** 64n) return Number(text);
  const quoted = JSON.stringify(text);
  const detail = `strconv.ParseUint: parsing ${quoted}: ${isNumber ? 'value out of range' : 'invalid syntax'}`;
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${quoted}: ${detail}`);
}

function labelsOf(text: string | null): LabelSelector {
  if (!text) return EVERYTHING;
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

export function parseInteger(text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null ? undefined : Math.max(0, parseInteger(text));
}
