/**
 * A server in a process of its own that watches its own event loop: `turns.child.ts <folder>`. Asked over IPC for the longest
 * turn since it was last asked, in milliseconds of the main thread's processor time: neither a busy machine nor the
 * compiler's and collector's threads count.
 */
import { readFileSync } from 'node:fs';
import { startServer } from './server.ts';

/** Without a kernel that counts it, the time of the whole process. */
function processorTime(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

const server = await startServer({ folder: process.argv[2] });
let longest = 0;
let before = processorTime();

function turn(): void {
  const now = processorTime();
  longest = Math.max(longest, now - before);
  before = now;
  setImmediate(turn);
}

process.on('message', () => {
  const peakMemory = process.resourceUsage().maxRSS * 1024;
  process.send?.({ longest, peakMemory, errors: server.errors.splice(0).map(String) });
  longest = 0;
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: server.url, caPem: server.caPem, token: server.root.credentials.adminToken });
turn();
