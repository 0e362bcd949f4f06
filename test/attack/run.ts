/** Runs attacks one after the other: what one leaves behind, the next one meets. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack, Subject } from './attack.ts';
import type { Scene } from './scene.ts';

export interface Outcome {
  readonly subject: string;
  readonly attack: string;
  /** What happened instead; undefined where the server withstood the attack. */
  readonly failure?: string;
}

/** Longer than any deadline of the server: an attack that hangs was not withstood. */
const HANGS_MS = 180_000;

export async function* runAttacks(subjects: readonly Subject[], scene: Scene): AsyncGenerator<Outcome> {
  for (const subject of subjects) {
    for (const attack of subject.attacks) {
      yield { subject: subject.name, attack: attack.name, failure: await failureOf(attack, scene) };
    }
  }
}

async function failureOf(attack: Attack, scene: Scene): Promise<string | undefined> {
  const stop = new AbortController();
  try {
    const hangs = delay(HANGS_MS, undefined, { signal: stop.signal }).then(() => Promise.reject(new Error('it hangs')));
    hangs.catch(() => {});
    await Promise.race([attack.run(scene), hangs]);
    const alive = await scene.root.http.get('/readyz');
    return alive.status === 200 ? undefined : `afterwards /readyz answered ${alive.status}`;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n')[0] : String(error);
  } finally {
    stop.abort();
  }
}
