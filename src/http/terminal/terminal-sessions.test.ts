import { describe, expect, it } from 'vitest';
import type { Clock } from '../../clock.ts';
import type { Terminal, Workload } from '../../workloads/workload.ts';
import { TerminalSessions } from './terminal-sessions.ts';

const REF = { id: 'one', name: 'one' };
const SIZE = { columns: 80, rows: 24 };
const VIEWER = { send() {}, ended() {} };

function world() {
  const timers = new Set<() => void>();
  const clock: Clock = {
    now: () => 0,
    after(_ms, callback) {
      timers.add(callback);
      return () => timers.delete(callback);
    },
  };
  const shells: { isClosed: boolean; isPaused: boolean; print(data: string): void }[] = [];
  const workload = {
    async terminal(): Promise<Terminal> {
      const shell = { isClosed: false, isPaused: false, print: (_data: string): void => {} };
      shells.push(shell);
      let exit: (code: number) => void = () => {};
      return {
        write() {},
        resize() {},
        pause() {
          shell.isPaused = true;
        },
        resume() {
          shell.isPaused = false;
        },
        onData(listener) {
          shell.print = listener;
        },
        onExit(listener) {
          exit = listener;
        },
        close() {
          shell.isClosed = true;
          exit(137);
        },
      };
    },
  } as unknown as Workload;
  const sessions = new TerminalSessions({ clock });
  const open = () => sessions.open(workload, REF, SIZE, () => {});
  const elapse = () => {
    for (const timer of [...timers]) timer();
  };
  return { sessions, shells, open, elapse };
}

describe('shells of workspaces', () => {
  it('are one for all who ask at the same moment', async () => {
    const { open, shells } = world();
    const [left, right] = await Promise.all([open(), open()]);
    expect(left).toBe(right);
    expect(shells).toHaveLength(1);
  });

  it('are made anew after their end', async () => {
    const { open, sessions, shells } = world();
    await open();
    sessions.end(REF.id);
    await open();
    expect(shells.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  it('end when nobody comes back', async () => {
    const { open, sessions, shells, elapse } = world();
    const session = await open();
    session.attach(VIEWER);
    session.detach(VIEWER);
    await sessions.release(REF);
    elapse();
    await expect.poll(() => shells[0]?.isClosed).toBe(true);
  });

  it('stay for whoever comes back, however many left', async () => {
    const { open, sessions, shells, elapse } = world();
    await open();
    await Promise.all([sessions.release(REF), sessions.release(REF)]);
    (await open()).attach(VIEWER);
    elapse();
    await new Promise((resolve) => setImmediate(resolve));
    expect(shells[0]?.isClosed).toBe(false);
  });

  it('rest a moment after every half megabyte', async () => {
    const { open, shells, elapse } = world();
    await open();
    shells[0]?.print('y\n'.repeat(200_000));
    expect(shells[0]?.isPaused).toBe(false);
    shells[0]?.print('y\n'.repeat(200_000));
    expect(shells[0]?.isPaused).toBe(true);
    elapse();
    expect(shells[0]?.isPaused).toBe(false);
  });
});
