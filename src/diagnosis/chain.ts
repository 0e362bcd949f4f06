/**
 * Why something is as it is: from the thing that was asked about, link by link, to the root cause. Each kind of thing has a look of its own that
 * says how it stands and what it stands on; the walk follows what is not well. It does not change anything.
 */
export type LinkState = 'ok' | 'working' | 'blocked' | 'missing' | 'unknown';

export interface Link {
  /** `Cluster default/demo`, `tool kind`. */
  subject: string;
  state: LinkState;
  /** CamelCase, for programs. */
  reason?: string;
  what: string;
  /** RFC 3339. */
  since?: string;
  /** What is normal. */
  usualSeconds?: number;
  /** What a tool said last. */
  output: string[];
  /** What happens next, or what a person can do. */
  next?: string;
  /** What happened last, newest last. */
  recent: string[];
}

export interface Finding {
  link: Link;
  /** What it stands on; the first that is not well is followed. */
  causes: Look[];
}

export type Look = () => Promise<Finding>;

/** No chain of ours is longer; a circle of references ends here. */
const LENGTH_MAX = 12;

export async function walk(start: Look): Promise<Link[]> {
  const chain: Link[] = [];
  const seen = new Set<string>();
  let next: Finding | undefined = await start();
  while (next && chain.length < LENGTH_MAX && !seen.has(next.link.subject)) {
    chain.push(next.link);
    seen.add(next.link.subject);
    next = next.link.state === 'ok' ? undefined : await firstTrouble(next.causes);
  }
  return chain;
}

async function firstTrouble(causes: readonly Look[]): Promise<Finding | undefined> {
  for (const look of causes) {
    const finding = await look();
    if (finding.link.state !== 'ok') return finding;
  }
  return undefined;
}

/** The end of the chain; undefined when nothing is wrong. */
export function rootCause(chain: readonly Link[]): Link | undefined {
  return chain.findLast((link) => link.state !== 'ok');
}
