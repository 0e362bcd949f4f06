/** Links that let one person into one workspace: signed, for a while, to work in it or only to look. */

import { readFile } from 'node:fs/promises';
import type { Clock, Random } from '../clock.ts';
import { createPrivate } from '../vault/files.ts';
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
}

const KEY_BYTES = 32;

export class WorkspaceLinks {
  readonly #key: Buffer;
  readonly #clock: Clock;

  constructor(key: Buffer, clock: Clock) {
    this.#key = key;
    this.#clock = clock;
  }

  /** The key is made on first use and stays in its file; whoever can read that file can make links. */
  static async open(file: string, clock: Clock, random: Random): Promise<WorkspaceLinks> {
    await createPrivate(file, random.bytes(KEY_BYTES).toString('base64'), random);
    return new WorkspaceLinks(Buffer.from(await readFile(file, 'utf8'), 'base64'), clock);
  }

  sign(pass: Omit<Pass, 'expiresAt'>, ttlMs: number): string {
    return signToken<Pass>(this.#key, { ...pass, expiresAt: this.#clock.now() + ttlMs });
  }

  verify(token: string): Pass | undefined {
    return verifyToken<Pass>(this.#key, token, this.#clock.now());
  }
}
