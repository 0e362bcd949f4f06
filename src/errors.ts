/**
 * Every failure a user or another program can meet, with a code to look up, an exit code by class and whether
 * trying again can help. Kubernetes `Status` failures of the API server are `apiserver/status.ts`.
 */

/** `user`: fix the input. `permanent`: fix the world. `retryable`: try again later. */
export type ErrorClass = 'user' | 'permanent' | 'retryable';

const EXIT_CODES = { user: 2, permanent: 1, retryable: 75 } as const satisfies Record<ErrorClass, number>;

export class RookeryError extends Error {
  override readonly name = 'RookeryError';
  readonly code: string;
  readonly class: ErrorClass;
  /** What a person can do about it, as a sentence or a command. */
  readonly hint?: string;

  constructor(code: string, message: string, options: { class?: ErrorClass; hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.class = options.class ?? 'permanent';
    this.hint = options.hint;
  }

  get retry(): boolean {
    return this.class === 'retryable';
  }

  get exitCode(): number {
    return EXIT_CODES[this.class];
  }
}

const DISK_REFUSALS: Record<string, string> = {
  ENOSPC: 'is full',
  EDQUOT: 'is full: the quota of its user is used up',
  EIO: 'reports errors',
  EROFS: 'is mounted read-only',
};

/** A failed write of a file as an error for people, without paths: users of a cluster may read it. Anything else comes back as it was. */
export function diskFailure(error: unknown): unknown {
  const what = DISK_REFUSALS[(error as NodeJS.ErrnoException | null)?.code ?? ''];
  if (what === undefined) return error;
  return new RookeryError('disk.refused', `the disk of the server ${what}`, {
    class: 'retryable',
    hint: 'Make room on the disk of --home (or ROOKERY_HOME), or repair it.',
    cause: error,
  });
}
