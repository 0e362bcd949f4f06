/**
 * Counting and timing, and the text a Prometheus scrape expects of it. Asking twice for a name gives the same metric, so
 * libraries need not share variables. Written here because the usual client takes longer to load than the whole control
 * plane takes to start.
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
  /** The text a scrape expects, with its content type. */
  render(): { contentType: string; body: string };
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const nothing = { inc() {}, set() {}, add() {}, observe() {} };

export const noMetrics: Metrics = {
  counter: () => nothing,
  gauge: () => nothing,
  histogram: () => nothing,
  render: () => ({ contentType: CONTENT_TYPE, body: '' }),
};

/** Seconds from 1 ms to 2 min: reconciles, queue waits and requests all fit. */
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

interface Family extends Counter, Gauge, Histogram {
  render(): string;
}

export function createMetrics(): Metrics {
  const families = new Map<string, Family>();
  const once = (name: string, make: () => Family): Family => {
    const known = families.get(name) ?? make();
    families.set(name, known);
    return known;
  };
  return {
    counter: (name, help, labels = []) => once(name, () => values(name, help, 'counter', labels)),
    gauge: (name, help, labels = []) => once(name, () => values(name, help, 'gauge', labels)),
    histogram: (name, help, labels = [], buckets = SECONDS) =>
      once(name, () => distribution(name, help, labels, buckets)),
    render: () => ({
      contentType: CONTENT_TYPE,
      body: [...families.values()].map((family) => family.render()).join(''),
    }),
  };
}

/** One number for each combination of labels. */
function values(name: string, help: string, type: 'counter' | 'gauge', names: string[]): Family {
  const series = new Map<string, number>();
  // A metric without labels exists from the beginning, so that a rate can be taken of its first step.
  if (names.length === 0) series.set('', 0);
  const add = (by: number, labels?: Labels) => {
    const key = labelText(names, labels);
    series.set(key, (series.get(key) ?? 0) + by);
  };
  return {
    ...nothing,
    inc: (labels, by = 1) => add(by, labels),
    add,
    set: (value, labels) => void series.set(labelText(names, labels), value),
    render: () =>
      head(name, help, type) + [...series].map(([key, value]) => `${name}${braces(key)} ${value}\n`).join(''),
  };
}

interface Distribution {
  counts: number[];
  sum: number;
  count: number;
}

function distribution(name: string, help: string, names: string[], buckets: number[]): Family {
  const series = new Map<string, Distribution>();
  const lines = ([key, { counts, sum, count }]: [string, Distribution]) => {
    const comma = key ? `${key},` : '';
    const steps = buckets.map((le, i) => `${name}_bucket{${comma}le="${le}"} ${counts[i]}\n`).join('');
    const all = `${name}_bucket{${comma}le="+Inf"} ${count}\n`;
    return `${steps}${all}${name}_sum${braces(key)} ${sum}\n${name}_count${braces(key)} ${count}\n`;
  };
  return {
    ...nothing,
    observe(value, labels) {
      const key = labelText(names, labels);
      const known = series.get(key) ?? { counts: buckets.map(() => 0), sum: 0, count: 0 };
      series.set(key, known);
      known.sum += value;
      known.count++;
      // Buckets are cumulative: everything up to their bound.
      for (let i = buckets.length - 1; i >= 0 && value <= (buckets[i] as number); i--) {
        known.counts[i] = (known.counts[i] as number) + 1;
      }
    },
    render: () => head(name, help, 'histogram') + [...series].map(lines).join(''),
  };
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;
}

/** `a="1",b="2"`, in the order the metric names its labels. */
function labelText(names: string[], labels: Labels = {}): string {
  return names
    .filter((name) => labels[name] !== undefined)
    .map((name) => `${name}="${String(labels[name]).replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`)
    .join(',');
}

function braces(key: string): string {
  return key && `{${key}}`;
}
