/** Where a paged list goes on: a key and the version the first page was read at. Opaque to clients, checked by us. */
import { type ApiError, badRequest } from '../status.ts';

export interface Continue {
  /** -1: go on with the newest state (after the first page's version was compacted away). */
  rv: number;
  after: { namespace: string; name: string };
  /** How many objects follow, where that is known: the pages to come say it too. */
  left?: number;
}

const FORMAT = 'meta.k8s.io/v1';

export function encodeContinue({ rv, after, left }: Continue): string {
  const token = { v: FORMAT, rv, start: `${after.namespace}/${after.name}\u0000`, left };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

export function decodeContinue(text: string): Continue {
  const { v, rv, start, left } = parse(text);
  if (v !== FORMAT) throw notValid(`: server does not recognize this encoded version ${v ?? ''}`);
  if (!Number.isInteger(rv) || rv === 0)
    throw notValid(`: incorrect encoded start resourceVersion (version ${FORMAT})`);
  if (typeof start !== 'string' || start === '') throw notValid(`: encoded start key empty (version ${FORMAT})`);
  const [, namespace, name] = /^([^/]*)\/([^/]+)\0$/.exec(start) ?? [];
  if (namespace === undefined || name === undefined) throw notValid(`: ${start}`);
  return {
    rv: rv as number,
    after: { namespace, name },
    ...(Number.isSafeInteger(left) ? { left: left as number } : {}),
  };
}

function parse(text: string): Record<string, unknown> {
  const strange = text.search(/[^\w-]/);
  if (strange >= 0 || text.length % 4 === 1) {
    throw notValid(`: illegal base64 data at input byte ${strange >= 0 ? strange : text.length - 1}`);
  }
  const json = Buffer.from(text, 'base64url').toString();
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below, as for a value that is no object.
  }
  throw notValid(`: invalid character '${json.charAt(0)}' looking for beginning of value`);
}

function notValid(why: string): ApiError {
  return badRequest(`invalid continue token: continue key is not valid${why}`);
}
