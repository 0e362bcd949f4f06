/** The worker threads of the process, and who gets them: a tenant has one at a time, so that another one is left for others. */
import type { Authorizer } from '../auth/identity.ts';
import type { Owner, RequestScope } from '../request-scope.ts';
import { timeout, tooManyRequests } from '../status.ts';
import { FairQueue } from './fair-queue.ts';
import { type Job, Thread } from './thread.ts';
import type { Work } from './work.ts';

const THREADS = 2;
/** Milliseconds one task may take. The dearest that upstream's prices allow takes about two seconds. */
const TASK_MS = 30_000;
/** Tasks of one user that may wait; the rest is refused. */
const WAITING = 64;
/** Work that no request asked for: the server's own loops. */
const SERVER: Owner = { tenant: '\u0000', user: '' };

interface Task extends Job {
  owner: Owner;
  thread?: Thread;
}

export class Threads {
  readonly #queue = new FairQueue<Task>();
  readonly #threads = Array.from({ length: THREADS }, () => new Thread());
  readonly #busyTenants = new Set<string>();

  /** Rejects with the reason of the request's end where it ends before the task does, which is not done then. */
  do<N extends keyof Work>(
    name: N,
    [subject, ...args]: Parameters<Work[N]>,
    scope: RequestScope | undefined,
    authorizer: Authorizer | undefined,
  ): Promise<Awaited<ReturnType<Work[N]>>> {
    const owner = scope ?? SERVER;
    return new Promise<unknown>((resolve, reject) => {
      scope?.check();
      if (scope && this.#queue.countOf(scope) >= WAITING) throw busy();
      const settled = (act: () => void) => {
        forget?.();
        clearTimeout(timer);
        act();
      };
      const task: Task = {
        owner,
        name,
        subject,
        args,
        authorizer,
        resolve: (result) => settled(() => resolve(result)),
        reject: (error) => settled(() => reject(error)),
      };
      let timer: NodeJS.Timeout | undefined;
      task.started = () => {
        timer = setTimeout(() => this.#cancel(task, tookTooLong()), TASK_MS);
      };
      const forget = scope?.onEnd((reason) => this.#cancel(task, reason));
      this.#queue.add(owner, task);
      this.#serveNext();
    }) as Promise<Awaited<ReturnType<Work[N]>>>;
  }

  #serveNext(): void {
    for (const thread of this.#threads) {
      if (thread.isBusy) continue;
      const task = this.#queue.take((tenant) => !this.#busyTenants.has(tenant));
      if (!task) return;
      const { tenant } = task.owner;
      task.thread = thread;
      this.#busyTenants.add(tenant);
      thread.run(task, () => {
        this.#busyTenants.delete(tenant);
        this.#serveNext();
      });
    }
  }

  #cancel(task: Task, reason: Error): void {
    this.#queue.remove(task.owner, task);
    task.reject(reason);
    task.thread?.cancel(task);
  }
}

function busy(): Error {
  return tooManyRequests('too many requests of this user wait for long work, please try again later', 1);
}

function tookTooLong(): Error {
  return timeout('Timeout: request did not complete within the allotted timeout');
}
