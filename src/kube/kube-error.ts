/**
 * What a Kubernetes API answered when it said no. `reason` decides, as in apimachinery's `errors.IsX`; a body that is
 * no `Status` gets one made from the HTTP code, so callers never look at text.
 */

import type { StatusCause, StatusDetails } from '../api/status.ts';

export type { StatusCause, StatusDetails };

export interface KubeStatus {
  kind?: string;
  apiVersion?: string;
  metadata?: { continue?: string };
  status?: string;
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

const REASONS: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code: number;
  readonly reason: string;
  readonly details: StatusDetails;
  /** The whole answer, e.g. for the fresh `metadata.continue` of an expired list. */
  readonly status: KubeStatus;

  constructor(status: KubeStatus, options: { cause?: unknown } = {}) {
    const code = status.code ?? 500;
    super(status.message || `the server answered ${code} ${status.reason ?? ''}`.trim(), options);
    this.code = code;
    this.reason = status.reason || REASONS[code] || 'Unknown';
    this.details = status.details ?? {};
    this.status = status;
  }

  get retryAfterMs(): number | undefined {
    const seconds = this.details.retryAfterSeconds;
    return seconds === undefined ? undefined : seconds * 1000;
  }
}

/** The server could not be reached, or the connection broke before the answer was complete. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** A watch delivered something that is not an event: a truncated or unparsable line. */
export class WatchStreamError extends Error {
  override readonly name = 'WatchStreamError';
}

const hasReason = (error: unknown, ...reasons: string[]) =>
  error instanceof KubeError && reasons.includes(error.reason);

export const isNotFound = (error: unknown) => hasReason(error, 'NotFound');

/** For `.catch`: what is not there is undefined, anything else stays a failure. */
export function ignoreNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

export const isAlreadyExists = (error: unknown) => hasReason(error, 'AlreadyExists');
export const isConflict = (error: unknown) => hasReason(error, 'Conflict');
/** The resource version or continue token is too old; `Gone` is the old spelling. */
export const isExpired = (error: unknown) => hasReason(error, 'Expired', 'Gone');
export const isInvalid = (error: unknown) => hasReason(error, 'Invalid');
export const isForbidden = (error: unknown) => hasReason(error, 'Forbidden');
export const isUnauthorized = (error: unknown) => hasReason(error, 'Unauthorized');
export const isTooManyRequests = (error: unknown) => hasReason(error, 'TooManyRequests');

/** The server has not reached that resource version (yet, or after a restore from an older backup). */
export function isResourceVersionTooLarge(error: unknown): boolean {
  return (
    error instanceof KubeError &&
    (error.details.causes ?? []).some((cause) => cause.reason === 'ResourceVersionTooLarge')
  );
}

/** No answer, or one that says "not now": the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof KubeError && (error.code === 429 || error.code >= 500);
}
