/** How much a workspace may write, by the kernel's quotas for users: each workspace is one, where Rookery is root and the file system counts. */
import type { Processes } from '../tools/processes.ts';

const KIB = 1024;

/** Sets or (with 0) takes away the limit. Answers why it cannot be done, for people. */
export async function limitDisk(
  processes: Processes,
  folder: string,
  uid: number,
  bytes: number,
): Promise<string | undefined> {
  try {
    const found = await processes.run('df', ['--output=target', '--', folder]);
    const place = found.stdout.trim().split('\n').at(-1);
    if (found.code !== 0 || !place) return `the file system of ${folder} is not known`;
    const blocks = String(Math.ceil(bytes / KIB));
    const { code, stderr } = await processes.run('setquota', ['-u', String(uid), '0', blocks, '0', '0', place]);
    return code === 0 ? undefined : `${place} has no quotas for users: ${stderr.trim().split('\n')[0]}`;
  } catch {
    return 'setquota is not installed (package quota)';
  }
}
