// What every builder is given: where to build, where to log, and a way to say what exactly it took.
import type { Part } from '../part.ts';

export interface BuildContext {
  readonly part: Part;
  /** An empty folder that becomes the part when the builder returns. */
  readonly output: string;
  readonly log: string;
  readonly signal: AbortSignal | undefined;
  readonly resolved: Record<string, string>;
}

export type Builder = (context: BuildContext) => Promise<void>;
