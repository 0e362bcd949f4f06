/** One attack: what a hostile user tries, and how to see that it failed. */
import type { Answer } from '../harness/http.ts';
import type { Scene } from './scene.ts';

export interface Attack {
  /** What the attacker does, as a sentence without a subject: "reads another tenant's Secrets by name". */
  readonly name: string;
  /** Resolves when the server withstood the attack; throws with what it did instead. */
  readonly run: (scene: Scene) => Promise<void>;
}

export interface Subject {
  readonly name: string;
  readonly attacks: readonly Attack[];
}

export class NotHeld extends Error {
  override readonly name = 'NotHeld';
}

/** Any answer of these codes counts as a refusal. */
export function refused(answer: Answer, ...codes: number[]): void {
  const expected = codes.length > 0 ? codes : [401, 403, 404];
  if (!expected.includes(answer.status)) {
    throw new NotHeld(`answered ${answer.status} instead of ${expected.join(' or ')}: ${answer.text.slice(0, 300)}`);
  }
}

/** The server may accept or refuse it, but must not fail. */
export function survived(answer: Answer): void {
  if (answer.status >= 500 && answer.status !== 501 && answer.status !== 504) {
    throw new NotHeld(`answered ${answer.status}: ${answer.text.slice(0, 300)}`);
  }
}

export function held(condition: boolean, otherwise: string): void {
  if (!condition) throw new NotHeld(otherwise);
}
