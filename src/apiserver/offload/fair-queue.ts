/**
 * Tasks that wait for a worker thread. Tenants take turns, the users of a tenant take turns, and the tasks of one user wait
 * behind each other.
 */
import type { Owner } from '../request-scope.ts';

export class FairQueue<T> {
  /** By tenant, then by user. The first one is the next to be served. */
  readonly #tenants = new Map<string, Map<string, T[]>>();

  /** Tasks of this user that wait. */
  countOf({ tenant, user }: Owner): number {
    return this.#tenants.get(tenant)?.get(user)?.length ?? 0;
  }

  add({ tenant, user }: Owner, task: T): void {
    let users = this.#tenants.get(tenant);
    if (!users) {
      users = new Map();
      this.#tenants.set(tenant, users);
    }
    const tasks = users.get(user);
    if (tasks) tasks.push(task);
    else users.set(user, [task]);
  }

  /** The task that is served next, of the tenants that may be served now; its tenant and user go to the end of the line. */
  take(mayServe: (tenant: string) => boolean): T | undefined {
    for (const [tenant, users] of this.#tenants) {
      if (!mayServe(tenant)) continue;
      const [[user, tasks]] = users as unknown as [[string, T[]]];
      const task = tasks.shift();
      users.delete(user);
      if (tasks.length > 0) users.set(user, tasks);
      this.#tenants.delete(tenant);
      if (users.size > 0) this.#tenants.set(tenant, users);
      return task;
    }
    return undefined;
  }

  remove({ tenant, user }: Owner, task: T): void {
    const users = this.#tenants.get(tenant);
    const tasks = users?.get(user);
    const at = tasks?.indexOf(task) ?? -1;
    if (!users || !tasks || at < 0) return;
    tasks.splice(at, 1);
    if (tasks.length === 0) users.delete(user);
    if (users.size === 0) this.#tenants.delete(tenant);
  }
}
