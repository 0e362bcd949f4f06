/** Paths that lead nowhere. The real server answers in two ways, depending on which of its parts was asked. */
import { resourceTable } from '../kinds/tables.ts';
import { type ApiError, unknownPath } from '../status.ts';

/** Answered with a line of text instead of a Status. */
export class PageNotFound extends Error {
  override readonly name = 'PageNotFound';
}

let groups: Set<string> | undefined;

/** A Status below what is built in; anywhere else there is just no page. */
export function nothingAt(path: string): ApiError | PageNotFound {
  const [, root, group = ''] = path.split('/');
  groups ??= new Set(resourceTable().groups.map(({ name }) => name));
  const isOurs = root === 'api' || root === 'version' || (root === 'apis' && group !== '' && groups.has(group));
  return isOurs ? unknownPath() : new PageNotFound(path);
}
