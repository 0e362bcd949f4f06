/**
 * API priority and fairness: each request takes a seat before its body is read, and gives it back when it is answered. A
 * cluster's FlowSchemas and PriorityLevelConfigurations share its seats among its users; clusters share the server.
 *
 * - Administrators of the root cluster (`system:masters`) never wait. Those of a tenant are exempt from the limits
 *   of their own cluster, as in Kubernetes, and share the server with other tenants all the same.
 * - Requests without credentials, with wrong ones or for clusters that do not exist share a few seats, by address.
 * - Controllers in this process come without HTTP and take no seats; `Turns` in src/embedded limits them.
 */
import type { Clock } from '../../clock.ts';
import { ANONYMOUS, type Identity, MASTERS } from '../auth/identity.ts';
import type { Cluster } from '../cluster.ts';
import { ROOT } from '../clusters.ts';
import type { Exchange } from '../server/exchange.ts';
import { deadlineOf, isStream } from '../server/request-deadline.ts';
import type { Route } from '../server/route.ts';
import { tooManyRequests } from '../status.ts';
import { Dispatcher } from './dispatcher.ts';
import { dumpOf } from './dump.ts';
import { flowMetrics } from './flow-metrics.ts';
import { classify, type FlowSchema, type FlowTable, flowTableOf } from './flow-schemas.ts';
import type { Level } from './level.ts';
import type { Seat } from './seat.ts';
import { Tenant } from './tenant.ts';
import { Refused, type SeatRequest } from './waiter.ts';
import { isList, widthOf } from './width.ts';

/** A small request computes for about 0.3 ms, so a turn of the loop in which all seats are used takes about 10 ms. */
const SERVER_SEATS = 32;
/** No tenant can take them all, and its own administrators find some whatever its users do. */
const TENANT_SEATS = { all: 24, limited: 20 };
const STRANGER_SEATS = { all: 4, limited: 4 };
/** As upstream: a quarter of the longest request. */
const PATIENCE_MS = 15_000;
const STRANGER = 'unauthenticated';
const STRANGERS: Pick<FlowTable, 'levels'> = {
  levels: [
    {
      name: STRANGER,
      uid: '',
      isExempt: false,
      shares: 1,
      lendablePercent: 0,
      queuing: { queues: 64, handSize: 4, queueLengthLimit: 25 },
    },
  ],
};

export class Fairness {
  readonly #dispatcher: Dispatcher;
  readonly #tenants = new Map<string, Tenant>();
  readonly #strangers = new Tenant('', STRANGER_SEATS);

  constructor(clock: Clock) {
    this.#dispatcher = new Dispatcher({ clock, nextTurn: setImmediate, seats: SERVER_SEATS });
  }

  /** A seat for a request whose caller is known. Refusals are 429. */
  enter(cluster: Cluster, exchange: Exchange, identity: Identity, route: Route): Seat | Promise<Seat> {
    const table = flowTableOf(cluster.store);
    const schema = classify(table, identity, route);
    // Kubernetes counts no streams. Here they take a seat, as they are answered at once.
    if (route.kind === 'path' || !isStream(route)) nameFlow(exchange, schema);
    if (identity.user === ANONYMOUS.user) return this.enterAsStranger(exchange);
    const tenant = this.#tenant(cluster.name);
    const level = tenant.level(schema.level.name, table);
    if (cluster.name === ROOT && identity.groups.includes(MASTERS)) return this.#dispatcher.takeBeside(tenant, level);
    const width = widthOf(cluster, exchange, route);
    const list = isList(route);
    const seat = this.#dispatcher.take(tenant, level, width, list);
    if (seat) return seat;
    const deadline = deadlineOf(exchange, route) ?? Number.POSITIVE_INFINITY;
    const patience = Math.min(PATIENCE_MS, deadline / 4);
    const flow = flowOf(schema, identity, route);
    return this.#wait(tenant, level, exchange, { flow, width, isList: list, patience });
  }

  /** For requests whose caller, or cluster, is not known. */
  enterAsStranger(exchange: Exchange): Seat | Promise<Seat> {
    const level = this.#strangers.level(STRANGER, STRANGERS);
    const seat = this.#dispatcher.take(this.#strangers, level, 1, false);
    if (seat) return seat;
    const flow = exchange.request.socket?.remoteAddress ?? '';
    return this.#wait(this.#strangers, level, exchange, { flow, width: 1, isList: false, patience: PATIENCE_MS });
  }

  /** The priority levels of a cluster, as text for people. */
  dump(cluster: Cluster): string {
    const tenant = this.#tenant(cluster.name);
    const table = flowTableOf(cluster.store);
    for (const { name } of table.levels) tenant.level(name, table);
    return dumpOf(tenant.levels);
  }

  /** Of all clusters, for a scrape. */
  metrics(): string {
    return flowMetrics([...this.#tenants.values(), this.#strangers]);
  }

  /** Nothing of a cluster that is gone is kept. */
  forget(name: string): void {
    if (this.#tenants.get(name)?.underWay === 0) this.#tenants.delete(name);
  }

  #tenant(name: string): Tenant {
    let tenant = this.#tenants.get(name);
    if (!tenant) {
      tenant = new Tenant(name, TENANT_SEATS);
      this.#tenants.set(name, tenant);
    }
    return tenant;
  }

  async #wait(
    tenant: Tenant,
    level: Level,
    { response }: Exchange,
    request: Omit<SeatRequest, 'onGone'>,
  ): Promise<Seat> {
    try {
      const onGone = (leave: () => void) => void response.once('close', leave);
      return await this.#dispatcher.wait(tenant, level, { ...request, onGone });
    } catch (error) {
      if (error instanceof Refused) throw tooManyRequests('Too many requests, please try again later.', 1);
      throw error;
    }
  }
}

function nameFlow(exchange: Exchange, { uid, level }: FlowSchema): void {
  if (!uid || !level.uid) return;
  exchange.addHeader('x-kubernetes-pf-flowschema-uid', uid);
  exchange.addHeader('x-kubernetes-pf-prioritylevel-uid', level.uid);
}

function flowOf({ name, spec }: FlowSchema, { user }: Identity, route: Route): string {
  switch (spec.distinguisherMethod?.type) {
    case 'ByUser':
      return `${name} ${user}`;
    case 'ByNamespace':
      return `${name} ${route.kind === 'resource' ? route.namespace : ''}`;
    default:
      return name;
  }
}
