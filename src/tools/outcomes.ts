/** What everything that is made outside has to answer: can it be had here, and is it gone. */
export interface Removal {
  isDone: boolean;
  /** `container dev-control-plane`, `network kind`, … removed by this call. */
  removed: string[];
  reason: string;
  message: string;
  next?: string;
  lookAgainMs?: number;
}

export type Availability =
  | { isUsable: true; version: string; detail: string }
  | { isUsable: false; why: string; fix: string };
