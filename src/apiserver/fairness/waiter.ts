/** A request that waits for a seat, and how its wait ends. */
import type { Seat } from './seat.ts';

export interface SeatRequest {
  /** The flow it belongs to: its flow schema, and the user or namespace. */
  readonly flow: string;
  /** How many seats it takes. */
  readonly width: number;
  readonly isList: boolean;
  /** Longest wait, ms. */
  readonly patience: number;
  /** Is given the function that ends the wait because the client left. */
  readonly onGone: (leave: () => void) => void;
}

export interface Waiter extends SeatRequest {
  settle: (seat: Seat) => void;
}

/** Why a request gets no seat, in the words of Kubernetes' metrics. */
export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

export class Refused extends Error {
  readonly reason: Refusal;

  constructor(reason: Refusal) {
    super(reason);
    this.reason = reason;
  }
}
