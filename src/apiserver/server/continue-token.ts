/** Where a paged list goes on: a key and the version the first page was read at. Opaque to clients, checked by us. */
import { badRequest } from '../status.ts';

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
  try {
    const { v, rv, start, left } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
    if (v === FORMAT && Number.isInteger(rv) && typeof start === 'string' && start.endsWith('\u0000')) {
      const slash = start.indexOf('/');
      if (slash >= 0) {
        const after = { namespace: start.slice(0, slash), name: start.slice(slash + 1, -1) };
        return { rv: rv as number, after, ...(Number.isSafeInteger(left) ? { left: left as number } : {}) };
      }
    }
  } catch {
    // Not ours: refused below like any other bad token.
  }
  throw badRequest('continue key is not valid: encoded key is not valid');
}
