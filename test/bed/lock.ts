// A lock that is released when its holder dies, however it dies. A lock file with a pid in it would need somebody to decide
// that it is stale; this one is the kernel's, held by a small child that ends when its input, our end of a pipe, closes.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { locksFolder } from './paths.ts';

export async function withLock<T>(
  name: string,
  work: () => Promise<T>,
  { onWait, signal }: { onWait?: () => void; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  mkdirSync(locksFolder, { recursive: true });
  const held = ['--exclusive', join(locksFolder, `${name}.lock`), 'sh', '-c', 'echo held; exec cat'];
  // A session of its own: ctrl-c in a terminal must not open the lock before its holder has ended.
  const child = spawn('flock', held, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const patience = setTimeout(() => onWait?.(), 500);
  const giveUp = (): boolean => child.kill();
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve());
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`flock on ${name} ended with ${code}`)));
    });
    clearTimeout(patience);
    signal?.removeEventListener('abort', giveUp);
    return await work();
  } finally {
    clearTimeout(patience);
    signal?.removeEventListener('abort', giveUp);
    child.stdin.end();
    await ended;
  }
}
