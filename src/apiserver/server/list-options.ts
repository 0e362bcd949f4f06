/** Query parameters of list and watch, checked as the real server checks them. */
import { EVERYTHING, type LabelSelector, parseLabelSelector, SelectorError } from '../../api/label-selector.ts';
import { type FieldSelector, parseFieldSelector } from '../field-selector.ts';
import type { Resource } from '../resource.ts';
import { ApiError, badRequest, type FieldError, field, invalid } from '../status.ts';
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
  const match = query.get('resourceVersionMatch') ?? '';
  const version = query.get('resourceVersion') ?? '';
  const token = query.get('continue') ?? '';
  const sendInitial = query.has('sendInitialEvents') ? isTrue(query.get('sendInitialEvents')) : undefined;
  const errors = (isWatch ? watchErrors : listErrors)({ match, version, token, sendInitial });
  if (errors.length > 0) throw invalid('meta.k8s.io', 'ListOptions', '', errors);
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', resource);
  return {
    labels: labelsOf(query.get('labelSelector')),
    fields: route.name ? named(fields, route.name) : fields,
    // Any state will do: then all of it, as upstream has it in memory.
    limit: version === '0' && !token ? undefined : integer(query, 'limit') || undefined,
    continue: token || undefined,
    resourceVersion: version === '' ? undefined : isWatch ? parseExactVersion(version) : parseVersion(version),
    match: (match || undefined) as ListOptions['match'],
    timeoutSeconds: integer(query, 'timeoutSeconds'),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    // A watch from the state there is now begins as one that asked for it.
    sendInitialEvents: sendInitial ?? (isWatch && !match && (version === '' || version === '0') ? true : undefined),
  };
}

interface Versions {
  match: string;
  version: string;
  token: string;
  sendInitial: boolean | undefined;
}

const MATCH = 'resourceVersionMatch';

function listErrors({ match, version, token, sendInitial }: Versions): FieldError[] {
  const errors: FieldError[] = [];
  if (match) {
    if (!version) errors.push(field.forbidden(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
    if (token) errors.push(field.forbidden(MATCH, `${MATCH} is forbidden when continue is provided`));
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(field.notSupported(MATCH, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && version === '0') {
      errors.push(field.forbidden(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
    }
  }
  if (sendInitial !== undefined) {
    errors.push(field.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchErrors({ match, token, sendInitial }: Versions): FieldError[] {
  const errors: FieldError[] = [];
  if (sendInitial !== undefined && match !== 'NotOlderThan') {
    errors.push(field.forbidden(MATCH, `sendInitialEvents requires setting ${MATCH} to NotOlderThan`));
  }
  if (!match) return errors;
  if (sendInitial === undefined) {
    errors.push(field.forbidden(MATCH, `${MATCH} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== 'NotOlderThan') errors.push(field.notSupported(MATCH, match, ['NotOlderThan']));
  if (token) errors.push(field.forbidden(MATCH, `${MATCH} is forbidden when continue is provided`));
  return errors;
}

/** The name in the path counts; a selector may only repeat it. */
function named(fields: FieldSelector, name: string): FieldSelector {
  if (fields.terms.length > 0 && fields.name !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return { ...fields, name };
}

export function parseVersion(text: string): number {
  const detail = parseUint(text);
  if (typeof detail === 'number') return detail;
  const failure = `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${detail}`;
  throw badRequest(`invalid resource version: ${failure}`);
}

/** Of a watch or a single object: the same mistake is a failure nobody thought of there. */
export function parseExactVersion(text: string): number {
  const detail = parseUint(text);
  if (typeof detail === 'number') return detail;
  throw new ApiError(500, '', `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${detail}`);
}

/** The number, or what Go says is wrong with it. */
function parseUint(text: string): number | string {
  const isNumber = /^\d+$/.test(text);
  if (isNumber && BigInt(text) < 2n ** 64n) return Number(text);
  const problem = isNumber ? 'value out of range' : 'invalid syntax';
  return `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${problem}`;
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
  const isNumber = /^-?\d+$/.test(text);
  if (isNumber && (text.length < INT64_DIGITS || BigInt.asIntN(64, BigInt(text)) === BigInt(text))) return Number(text);
  const problem = isNumber ? 'value out of range' : 'invalid syntax';
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${problem}`);
}

/** Fewer are always in range. */
const INT64_DIGITS = 19;

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null ? undefined : Math.max(0, parseInteger(text));
}
