/** Links that let one person into one workspace: signed, for a while, to work in it or only to look. */

import type { Clock, Random } from '../clock.ts';
import { LinkKeys } from '../vault/link-keys.ts';
import { signToken, verifyToken } from '../vault/signed-token.ts';

export interface Pass {
  namespace: string;
  name: string;
  /** A workspace made anew under the same name is another one: the link does not open it. */
  uid: string;
  /** `viewer`: sees the screen, types nothing. */
  role: 'student' | 'viewer';
  /** Milliseconds since the epoch. */
  expiresAt: number;
  /** By which it can be revoked; absent in links of older versions. */
  id?: string;
  /** Milliseconds since the epoch; absent in links of older versions. */
  issuedAt?: number;
}

const ID_BYTES = 6;

/** What is signed into a link. */
type Wanted = Pick<Pass, 'namespace' | 'name' | 'uid' | 'role'>;

export class WorkspaceLinks {
  readonly #keys: Pick<LinkKeys, 'all'>;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(keys: Pick<LinkKeys, 'all'>, clock: Clock, random: Random) {
    this.#keys = keys;
    this.#clock = clock;
    this.#random = random;
  }

  /** The keys stay in their file; who can read that file can make links. */
  static async open(file: string, clock: Clock, random: Random): Promise<WorkspaceLinks> {
    return new WorkspaceLinks(await LinkKeys.open(file, clock, random), clock, random);
  }

  sign(wanted: Wanted, ttlMs: number): string {
    return this.issue(wanted, ttlMs).token;
  }

  /** With what is remembered of it, so that it can be revoked. */
  issue(wanted: Wanted, ttlMs: number): { token: string; pass: Pass } {
    const issuedAt = this.#clock.now();
    const id = this.#random.bytes(ID_BYTES).toString('hex');
    const pass: Pass = { ...wanted, id, issuedAt, expiresAt: issuedAt + ttlMs };
    const [newest] = this.#keys.all;
    if (!newest) throw new Error('there is no key to sign links with');
    return { token: signToken<Pass>(newest.key, pass), pass };
  }

  verify(token: string): Pass | undefined {
    const now = this.#clock.now();
    for (const { key } of this.#keys.all) {
      const pass = verifyToken<Pass>(key, token, now);
      if (pass) return pass;
    }
    return undefined;
  }
}
