/** Copies that share their blocks with the original (btrfs, XFS, bcachefs), by `cp`, since Node closes the original after copying and so takes its locks away. */
import type { Processes } from './processes.ts';

/** Answers false where it cannot be done, and does not try again. */
export function cloneFiles(processes: Processes): (from: string, to: string) => Promise<boolean> {
  let canClone = process.platform === 'linux';
  return async (from, to) => {
    if (!canClone) return false;
    try {
      const { code } = await processes.run('cp', ['--reflink=always', '--', from, to]);
      canClone = code === 0;
    } catch {
      canClone = false;
    }
    return canClone;
  };
}
