/**
 * Failures as Kubernetes says them: an `ApiError` is a `Status` object waiting to be written. Reason and details are
 * API (clients branch on them), and so are the message texts.
 */

import type { StatusCause, StatusDetails } from '../api/status.ts';

export type { StatusCause, StatusDetails };

export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

/** What a failure is about: the resource (or kind, for `Invalid`) and the name. */
export interface Subject {
  group: string;
  resource: string;
  name?: string;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly details?: StatusDetails;
  /** Goes to `metadata.continue`; only for an expired continue token. */
  readonly continue?: string;

  constructor(code: number, reason: string, message: string, details?: StatusDetails, continueToken?: string) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.continue = continueToken;
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.continue ? { continue: this.continue } : {},
      status: 'Failure',
      message: this.message,
      ...(this.reason ? { reason: this.reason } : {}),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

/** `pods` or `deployments.apps`, as messages name a resource. */
export function qualified(group: string, resource: string): string {
  return group ? `${resource}.${group}` : resource;
}

function details(subject: Subject, extra: Partial<StatusDetails> = {}): StatusDetails {
  return {
    ...(subject.name ? { name: subject.name } : {}),
    ...(subject.group ? { group: subject.group } : {}),
    ...(subject.resource ? { kind: subject.resource } : {}),
    ...extra,
  };
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

export function unauthorized(message = 'Unauthorized'): ApiError {
  return new ApiError(401, 'Unauthorized', message);
}

export function forbidden(subject: Subject, message: string, causes?: StatusCause[]): ApiError {
  const what = qualified(subject.group, subject.resource);
  const prefix = subject.name ? `${what} ${JSON.stringify(subject.name)} is forbidden` : `${what} is forbidden`;
  return new ApiError(
    403,
    'Forbidden',
    subject.resource ? `${prefix}: ${message}` : `forbidden: ${message}`,
    details(subject, causes ? { causes } : {}),
  );
}

export function notFound(subject: Subject): ApiError {
  const what = qualified(subject.group, subject.resource);
  return new ApiError(404, 'NotFound', `${what} ${JSON.stringify(subject.name ?? '')} not found`, details(subject));
}

/** The path names nothing this server has. */
export function unknownPath(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function methodNotAllowed(subject?: Subject): ApiError {
  return new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    subject ? details(subject) : {},
  );
}

export function notAcceptable(supported: string[]): ApiError {
  return new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${supported.join(', ')}`);
}

export function alreadyExists(subject: Subject): ApiError {
  const what = qualified(subject.group, subject.resource);
  return new ApiError(
    409,
    'AlreadyExists',
    `${what} ${JSON.stringify(subject.name ?? '')} already exists`,
    details(subject),
  );
}

export const MODIFIED_MESSAGE =
  'the object has been modified; please apply your changes to the latest version and try again';

export function conflict(subject: Subject, message: string = MODIFIED_MESSAGE, causes?: StatusCause[]): ApiError {
  const what = qualified(subject.group, subject.resource);
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${what} ${JSON.stringify(subject.name ?? '')}: ${message}`,
    details(subject, causes ? { causes } : {}),
  );
}

export function expired(message: string, continueToken?: string): ApiError {
  return new ApiError(410, 'Expired', message, undefined, continueToken);
}

export function tooLarge(message: string): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);
}

export function unsupportedMediaType(supported: string[]): ApiError {
  return new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );
}

export function tooManyRequests(message: string, retryAfterSeconds: number, causes?: StatusCause[]): ApiError {
  return new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds, ...(causes ? { causes } : {}) });
}

export function internalError(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

export function timeout(message: string, retryAfterSeconds = 0, causes?: StatusCause[]): ApiError {
  return new ApiError(504, 'Timeout', message, { retryAfterSeconds, ...(causes ? { causes } : {}) });
}

// ---- 422: what is wrong with an object, field by field --------------------------------------------------------

export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotFound';

export interface FieldError {
  type: FieldErrorType;
  field: string;
  /** Everything after `<field>: `, as the real server words it. */
  message: string;
}

/** The value as Go prints it in `Invalid value: …`. */
export function shown(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  return JSON.stringify(value).replace(/\\u00([01][0-9a-f])/g, (_, code) => GO_ESCAPES[code] ?? `\\x${code}`);
}

/** Those that JSON has no letter for. */
const GO_ESCAPES: Record<string, string> = { '07': '\\a', '0b': '\\v' };

export const field = {
  required: (path: string, detail = ''): FieldError => ({
    type: 'FieldValueRequired',
    field: path,
    message: detail ? `Required value: ${detail}` : 'Required value',
  }),
  invalid: (path: string, value: unknown, detail: string): FieldError => ({
    type: 'FieldValueInvalid',
    field: path,
    message: `Invalid value: ${shown(value)}${detail && `: ${detail}`}`,
  }),
  /** Where the value is too large to show, or no single one is wrong. */
  invalidAsIs: (path: string, detail: string): FieldError => ({
    type: 'FieldValueInvalid',
    field: path,
    message: `Invalid value: ${detail}`,
  }),
  typeInvalid: (path: string, value: unknown, detail: string): FieldError => ({
    type: 'FieldValueTypeInvalid',
    field: path,
    message: `Invalid value: ${shown(value)}: ${detail}`,
  }),
  notSupported: (path: string, value: unknown, supported: string[]): FieldError => ({
    type: 'FieldValueNotSupported',
    field: path,
    message: `Unsupported value: ${shown(value)}${supported.length ? `: supported values: ${[...supported].map((v) => JSON.stringify(v)).join(', ')}` : ''}`,
  }),
  duplicate: (path: string, value: unknown): FieldError => ({
    type: 'FieldValueDuplicate',
    field: path,
    message: `Duplicate value: ${shown(value)}`,
  }),
  forbidden: (path: string, detail: string): FieldError => ({
    type: 'FieldValueForbidden',
    field: path,
    message: `Forbidden: ${detail}`,
  }),
  tooLong: (path: string, max: number): FieldError => ({
    type: 'FieldValueTooLong',
    field: path,
    message: `Too long: may not be more than ${max} bytes`,
  }),
  tooMany: (path: string, actual: number, max: number): FieldError => ({
    type: 'FieldValueTooMany',
    field: path,
    message: `Too many: ${actual}: must have at most ${max} items`,
  }),
};

/** 422 for `Kind.group "name"`; details.kind is the Kind here, not the resource. What is said twice is one sentence. */
export function invalid(group: string, kind: string, name: string, errors: FieldError[]): ApiError {
  const texts = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))];
  const joined = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new ApiError(422, 'Invalid', `${qualified(group, kind)} ${JSON.stringify(name)} is invalid: ${joined}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    ...(kind ? { kind } : {}),
    causes: errors.map((e) => ({ reason: e.type, message: e.message, field: e.field })),
  });
}
