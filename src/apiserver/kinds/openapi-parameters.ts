/** Query and path parameters of the operations, in our own words. */

export interface Parameter {
  name: string;
  in: 'query' | 'path';
  description: string;
  required?: true;
  schema: { type: string; uniqueItems: true };
}

function query(name: string, type: string, description: string): Parameter {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

function path(name: string, description: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } };
}

export const NAME = path('name', 'Name of the object.');
export const NAMESPACE = path('namespace', 'Namespace of the objects.');
export const PRETTY = query('pretty', 'string', 'Answer with indented text when `true`.');

const dryRun = query('dryRun', 'string', 'With `All`, the whole request is carried out but nothing is stored.');
const fieldManager = query(
  'fieldManager',
  'string',
  'Who makes the change; owner of the changed fields. Up to 128 characters.',
);
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What to do about unknown and duplicate fields: `Ignore` drops them, `Warn` also warns, `Strict` refuses the request.',
);
const force = query('force', 'boolean', 'Server-side apply only: take over fields that others own.');
const labelSelector = query('labelSelector', 'string', 'Only objects whose labels match.');
const fieldSelector = query('fieldSelector', 'string', 'Only objects whose fields match.');
const limit = query('limit', 'integer', 'Most objects in one answer; the answer then carries a continue token.');
const continueToken = query('continue', 'string', 'Token of an earlier answer: the list goes on after it.');
const resourceVersion = query('resourceVersion', 'string', 'The version to read at or after; `0` means any.');
const resourceVersionMatch = query(
  'resourceVersionMatch',
  'string',
  'How `resourceVersion` is meant: `Exact` or `NotOlderThan`.',
);
const timeoutSeconds = query('timeoutSeconds', 'integer', 'How long the request may take, or a watch may stay open.');
const sendInitialEvents = query('sendInitialEvents', 'boolean', 'Begin a watch with the objects that exist already.');
const watch = query('watch', 'boolean', 'Stream changes instead of answering with a list.');
const allowWatchBookmarks = query(
  'allowWatchBookmarks',
  'boolean',
  'Send now and then an event that only tells the version reached.',
);
const gracePeriodSeconds = query(
  'gracePeriodSeconds',
  'integer',
  'Seconds until the object is removed; 0 means at once.',
);
const orphanDependents = query('orphanDependents', 'boolean', 'Deprecated form of `propagationPolicy=Orphan`.');
const propagationPolicy = query(
  'propagationPolicy',
  'string',
  'What becomes of dependents: `Orphan` keeps them, `Background` removes them afterwards, `Foreground` before.',
);

export const WRITE = [dryRun, fieldManager, fieldValidation];
export const PATCH = [...WRITE, force];
export const DELETE = [dryRun, gracePeriodSeconds, orphanDependents, propagationPolicy];
const SELECT = [
  continueToken,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  sendInitialEvents,
  timeoutSeconds,
];
export const LIST = [allowWatchBookmarks, ...SELECT, watch];
export const DELETE_COLLECTION = [...SELECT, ...DELETE];
