/** How the disk of a home stands, for commands beside a running control plane: the file of the reserve says what it gave up. */
import { freeBytes, RESERVE_BYTES, Reserve } from '../apiserver/disk/reserve.ts';
import type { Home } from './home.ts';

export interface DiskReport {
  state: 'ok' | 'nearly full' | 'full';
  freeBytes: number;
  /** One sentence, for people. */
  message: string;
}

const NEARLY_FULL_BYTES = 16 * RESERVE_BYTES;
const WHILE_FULL = 'objects can be read and deleted, not created or changed, until there is room';

export async function diskReport(home: Home): Promise<DiskReport> {
  const free = await freeBytes(home.path);
  const reserved = new Reserve(home.reserve).bytes;
  const hasGivenUp = reserved !== undefined && reserved < RESERVE_BYTES && free < 2 * RESERVE_BYTES;
  const text = `${amount(free)} free`;
  if (hasGivenUp || free < 2 ** 20) {
    return { state: 'full', freeBytes: free, message: `full (${text}): ${WHILE_FULL}` };
  }
  if (free < NEARLY_FULL_BYTES) return { state: 'nearly full', freeBytes: free, message: `nearly full (${text})` };
  return { state: 'ok', freeBytes: free, message: text };
}

function amount(bytes: number): string {
  return bytes < 2 ** 30 ? `${Math.floor(bytes / 2 ** 20)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
