/**
 * Shuffle sharding, as Kubernetes does it: a flow is dealt a hand of few queues out of many and uses the emptiest of
 * them. Two flows rarely share all of theirs, so one that fills its queues leaves the others a free one.
 */
import { createHash } from 'node:crypto';

const CARD_BYTES = 4;
/** As many cards as the hash has bytes for. Kubernetes' own levels deal up to six. */
const MOST_CARDS = 8;

/** Different queues, from 0; always the same for the same flow. */
export function handOf(flow: string, queues: number, handSize: number): number[] {
  const hash = createHash('sha256').update(flow).digest();
  const size = Math.min(handSize, queues, MOST_CARDS);
  const hand: number[] = [];
  for (let i = 0; i < size; i++) {
    let card = hash.readUInt32BE(i * CARD_BYTES) % (queues - i);
    // The cards that were dealt are gone: those behind them have moved forward.
    for (const dealt of [...hand].sort((a, b) => a - b)) if (dealt <= card) card++;
    hand.push(card);
  }
  return hand;
}
