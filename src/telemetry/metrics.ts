/**
 * Counting and timing as the rest of the code sees it. prom-client is named here and nowhere else. Asking twice for a
 * name gives the same metric, so libraries need not share variables.
 */

export type Labels = Record<string, string | number>;

export interface Counter {
  inc(labels?: Labels, by?: number): void;
}
export interface Gauge {
  set(value: number, labels?: Labels): void;
  add(by: number, labels?: Labels): void;
}
export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

export interface Metrics {
  counter(name: string, help: string, labels?: string[]): Counter;
  gauge(name: string, help: string, labels?: string[]): Gauge;
  histogram(name: string, help: string, labels?: string[], buckets?: number[]): Histogram;
  /** The text a Prometheus scrape expects, with its content type. */
  render(): Promise<{ contentType: string; body: string }>;
}

const nothing = { inc() {}, set() {}, add() {}, observe() {} };

export const noMetrics: Metrics = {
  counter: () => nothing,
  gauge: () => nothing,
  histogram: () => nothing,
  render: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', body: '' }),
};

/** Seconds from 1 ms to 2 min: reconciles, queue waits and requests all fit. */
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** `processMetrics` adds memory, CPU, event loop lag and garbage collection. */
export async function createMetrics(options: { processMetrics?: boolean } = {}): Promise<Metrics> {
  const prom = (await import('prom-client')).default;
  const registry = new prom.Registry();
  if (options.processMetrics) prom.collectDefaultMetrics({ register: registry });
  const known = new Map<string, unknown>();
  const once = <M>(name: string, make: () => M): M => {
    if (!known.has(name)) known.set(name, make());
    return known.get(name) as M;
  };
  const common = { registers: [registry] };
  return {
    counter: (name, help, labelNames = []) =>
      once(name, () => {
        const counter = new prom.Counter({ ...common, name, help, labelNames });
        return { inc: (labels: Labels = {}, by = 1) => counter.inc(labels, by) };
      }),
    gauge: (name, help, labelNames = []) =>
      once(name, () => {
        const gauge = new prom.Gauge({ ...common, name, help, labelNames });
        return {
          set: (value: number, labels: Labels = {}) => gauge.set(labels, value),
          add: (by: number, labels: Labels = {}) => gauge.inc(labels, by),
        };
      }),
    histogram: (name, help, labelNames = [], buckets = SECONDS) =>
      once(name, () => {
        const histogram = new prom.Histogram({ ...common, name, help, labelNames, buckets });
        return { observe: (value: number, labels: Labels = {}) => histogram.observe(labels, value) };
      }),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

/**
 * The same, with prom-client (40 ms to load) left for later: until `ready` or the first scrape, what is counted waits
 * in a list. For a process whose users wait for it to start.
 */
export function deferredMetrics(options: { processMetrics?: boolean } = {}): Metrics & { ready(): Promise<void> } {
  let real: Metrics | undefined;
  let loading: Promise<void> | undefined;
  const waiting: ((metrics: Metrics) => void)[] = [];
  const use = (action: (metrics: Metrics) => void) => {
    if (real) action(real);
    else waiting.push(action);
  };
  const ready = () => {
    loading ??= createMetrics(options).then((made) => {
      real = made;
      for (const action of waiting.splice(0)) action(made);
    });
    return loading;
  };
  return {
    counter: (...metric) => ({ inc: (...args) => use((metrics) => metrics.counter(...metric).inc(...args)) }),
    gauge: (...metric) => ({
      set: (...args) => use((metrics) => metrics.gauge(...metric).set(...args)),
      add: (...args) => use((metrics) => metrics.gauge(...metric).add(...args)),
    }),
    histogram: (...metric) => ({
      observe: (...args) => use((metrics) => metrics.histogram(...metric).observe(...args)),
    }),
    ready,
    async render() {
      await ready();
      return (real as Metrics).render();
    },
  };
}
