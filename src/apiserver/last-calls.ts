/** When users last asked a cluster something: kept while it sleeps, forgotten with it. Costs a lookup for each request. */
const USERS_MAX = 256;

export class LastCalls {
  readonly #clusters = new Map<string, Map<string, number>>();

  note(cluster: string, user: string, at: number): void {
    let users = this.#clusters.get(cluster);
    if (!users) {
      users = new Map();
      this.#clusters.set(cluster, users);
    }
    // A Map keeps insertion order: the first is the one who has been silent for longest.
    users.delete(user);
    users.set(user, at);
    if (users.size > USERS_MAX) users.delete(users.keys().next().value as string);
  }

  /** Of one user, or of anybody. */
  at(cluster: string, user?: string): number | undefined {
    const users = this.#clusters.get(cluster);
    if (!users) return undefined;
    return user === undefined ? Math.max(...users.values()) : users.get(user);
  }

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }
}
