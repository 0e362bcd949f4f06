/**
 * What a condition of a provider says, read back into its parts: `progress-status.ts` writes what, since when, what is normal, the last
 * output and what comes next as lines, because that is what kubectl can show.
 */
export interface Explanation {
  what: string;
  /** RFC 3339. */
  since?: string;
  usualSeconds?: number;
  output: string[];
  next?: string;
}

export function readExplanation(message: string): Explanation {
  const found: Explanation = { what: '', output: [] };
  const what: string[] = [];
  for (const line of message.split('\n')) {
    const since = /^Since (\d{4}-\d\d-\d\dT[\d:]+Z)/.exec(line);
    const usual = /usually done in about (\d+) s$/.exec(line);
    if (since) found.since = since[1];
    if (usual) found.usualSeconds = Number(usual[1]);
    if (since || usual) continue;
    if (line.startsWith('Last output: ')) found.output = line.slice('Last output: '.length).split(' | ');
    else if (line.startsWith('Next: ')) found.next = line.slice('Next: '.length);
    else if (line) what.push(line);
  }
  return { ...found, what: what.join('\n') };
}
