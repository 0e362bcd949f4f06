/** How patches fail. */
import { ApiError } from '../status.ts';

/** A sound patch that does not fit the object. The server keeps the reason to itself. */
export function unprocessable(): ApiError {
  return new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

/** What the real server answers for errors it has no better word for: 500 without a reason. */
export function plainError(message: string): ApiError {
  return new ApiError(500, '', message);
}
