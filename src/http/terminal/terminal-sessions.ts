/** The shells of all workspaces: one for each, opened when somebody first looks, closed when nobody has for a while. */
import type { Clock } from '../../clock.ts';
import type { TerminalSize, Workload, WorkspaceRef } from '../../workloads/workload.ts';
import { TerminalSession } from './terminal-session.ts';

/** How long a shell waits for somebody to come back. */
const LINGER_MS = 15 * 60_000;

export interface TerminalSessionsOptions {
  clock: Clock;
}

export class TerminalSessions {
  readonly #options: TerminalSessionsOptions;
  readonly #sessions = new Map<string, Promise<TerminalSession>>();
  readonly #timers = new Map<string, () => void>();

  constructor(options: TerminalSessionsOptions) {
    this.#options = options;
  }

  /** Asked for by several at the same moment, they all get the same one. */
  async open(workload: Workload, ref: WorkspaceRef, size: TerminalSize, onInput: () => void): Promise<TerminalSession> {
    this.#keep(ref.id);
    for (let known = this.#sessions.get(ref.id); known; known = this.#sessions.get(ref.id)) {
      const session = await known.catch(() => undefined);
      if (session && !session.isOver) return session;
      if (this.#sessions.get(ref.id) === known) this.#sessions.delete(ref.id);
    }
    const { clock } = this.#options;
    const opening = workload.terminal(ref, size).then((terminal) => new TerminalSession(terminal, onInput, clock));
    this.#sessions.set(ref.id, opening);
    return await opening;
  }

  /** Somebody left: the shell ends when nobody comes back. */
  async release({ id }: WorkspaceRef): Promise<void> {
    const session = await this.#sessions.get(id)?.catch(() => undefined);
    if (!session || session.viewers > 0) return;
    this.#keep(id);
    const endIfAlone = () => {
      if (session.viewers === 0) this.end(id);
    };
    this.#timers.set(id, this.#options.clock.after(LINGER_MS, endIfAlone));
  }

  end(id: string): void {
    this.#keep(id);
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    session?.then((open) => open.close()).catch(() => {});
  }

  close(): void {
    for (const id of [...this.#sessions.keys()]) this.end(id);
  }

  #keep(id: string): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
  }
}
