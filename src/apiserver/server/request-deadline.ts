/** How long a request may take: as its client says, at most a minute. Watches and streams have limits of their own. */
import { type ApiError, badRequest, timeout } from '../status.ts';
import type { Exchange } from './exchange.ts';
import { parseGoDuration } from './go-duration.ts';
import type { ResourceRoute, Route } from './route.ts';

const LONGEST_MS = 60_000;
const STREAMS = new Set(['exec', 'attach', 'portforward', 'proxy', 'log']);

export function isStream({ subresource }: ResourceRoute): boolean {
  return STREAMS.has(subresource);
}

/** Milliseconds; undefined for what goes on until somebody ends it. */
export function deadlineOf(exchange: Exchange, route: Route): number | undefined {
  if (route.kind === 'resource' && (route.verb === 'watch' || isStream(route))) return undefined;
  const wanted = exchange.query.get('timeout');
  if (!wanted) return LONGEST_MS;
  const asked = parseGoDuration(wanted);
  if (typeof asked === 'string') throw badRequest(`invalid timeout specified in the request URL - ${asked}`);
  return asked > 0 && asked < LONGEST_MS ? asked : LONGEST_MS;
}

/** The answer to one that took too long; work for it stops. */
export function tookTooLong(): ApiError {
  return timeout('Timeout: request did not complete within the allotted timeout');
}
