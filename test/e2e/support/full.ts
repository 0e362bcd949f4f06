// A full run takes as long as it takes. A short one, as in CI, leaves out what another suite shows as well, or what takes minutes.
import { test } from 'vitest';

export const isFull = process.env.E2E_FULL === '1';
export const fullTest = test.runIf(isFull);
