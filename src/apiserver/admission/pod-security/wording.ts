/** How violations are put into words. */

export interface Violation {
  reason: string;
  detail: string;
}

export const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many);

export const quoted = (items: string[]): string => items.map((item) => `"${item}"`).join(', ');

export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort();

export const containers = (names: string[]): string =>
  `${plural('container', 'containers', names.length)} ${quoted(names)}`;

/** `pod and containers "a", "b"`, as far as each is concerned. */
export const setters = (pod: boolean, names: string[]): string =>
  [...(pod ? ['pod'] : []), ...(names.length > 0 ? [containers(names)] : [])].join(' and ');

export const reasonsOf = (violations: Violation[]): string => violations.map(({ reason }) => reason).join(', ');

export const detailsOf = (violations: Violation[]): string =>
  violations.map(({ reason, detail }) => (detail ? `${reason} (${detail})` : reason)).join(', ');
