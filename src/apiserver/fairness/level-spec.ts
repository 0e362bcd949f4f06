/** What a PriorityLevelConfiguration says, with the defaults of Kubernetes, and how many seats follow from all of them. */
import type { KubeObject } from '../../api/object.ts';

export interface LevelSpec {
  name: string;
  uid: string;
  isExempt: boolean;
  shares: number;
  lendablePercent: number;
  /** Undefined: as many as others lend. */
  borrowingLimitPercent?: number;
  /** Undefined: a request without a seat is refused at once. */
  queuing?: Queuing;
}

export interface Queuing {
  queues: number;
  handSize: number;
  queueLengthLimit: number;
}

export interface Limits {
  /** Seats of its own. */
  nominal: number;
  /** How many of them others may use while it does not. */
  lendable: number;
  /** With what it borrows. */
  most: number;
}

const SHARES = 30;
const QUEUING: Queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 };

export function levelSpec({ metadata, spec }: KubeObject): LevelSpec {
  const isExempt = spec?.type === 'Exempt';
  const { nominalConcurrencyShares, lendablePercent, borrowingLimitPercent, limitResponse } =
    (isExempt ? spec?.exempt : spec?.limited) ?? {};
  const { queues, handSize, queueLengthLimit } = limitResponse?.queuing ?? {};
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    isExempt,
    shares: count(nominalConcurrencyShares, isExempt ? 0 : SHARES),
    lendablePercent: Math.min(100, count(lendablePercent, 0)),
    ...(borrowingLimitPercent === undefined ? {} : { borrowingLimitPercent: count(borrowingLimitPercent, 0) }),
    ...(limitResponse?.type === 'Queue'
      ? {
          queuing: {
            queues: Math.max(1, count(queues, QUEUING.queues)),
            handSize: Math.max(1, count(handSize, QUEUING.handSize)),
            queueLengthLimit: count(queueLengthLimit, QUEUING.queueLengthLimit),
          },
        }
      : {}),
  };
}

/** The seats of each level out of `seats`, by the formulas of Kubernetes. */
export function limitsOf(levels: readonly LevelSpec[], seats: number): Map<string, Limits> {
  const shares = levels.reduce((sum, level) => sum + level.shares, 0);
  const limits = new Map<string, Limits>();
  for (const { name, shares: own, lendablePercent, borrowingLimitPercent } of levels) {
    const nominal = shares === 0 ? 0 : Math.ceil((seats * own) / shares);
    const part = (percent: number) => Math.round((nominal * percent) / 100);
    const most = borrowingLimitPercent === undefined ? seats : nominal + part(borrowingLimitPercent);
    limits.set(name, { nominal, lendable: part(lendablePercent), most: Math.max(nominal, most) });
  }
  return limits;
}

/** A whole number from zero, whatever was stored. */
function count(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.max(0, Math.floor(value)) : otherwise;
}
