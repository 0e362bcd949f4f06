// What became of each spec, read from Ginkgo's JSON report.
import type { Spec } from './spec-list.ts';

export interface Outcome {
  readonly spec: Spec;
  readonly passed: boolean;
  /** The first line of why not; empty when it passed. */
  readonly why: string;
  readonly seconds: number;
}

interface SpecReport {
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly State: string;
  readonly RunTime: number;
  readonly Failure?: { readonly Message?: string; readonly ForwardedPanic?: string };
}
export type GinkgoReport = readonly { readonly SpecReports: readonly SpecReport[] | null }[];

/** Every spec asked for has an outcome: one that the report does not tell of did not pass. */
export function outcomesOf(specs: readonly Spec[], report: GinkgoReport | undefined): Outcome[] {
  const entries = (report ?? []).flatMap((suite) => suite.SpecReports ?? []);
  const ran = new Map(entries.filter((entry) => entry.State !== 'skipped').map((entry) => [nameOf(entry), entry]));
  const general = entries.find((entry) => entry.LeafNodeType !== 'It' && entry.Failure?.Message);
  const missing = report
    ? general
      ? `not run: ${general.LeafNodeType}: ${firstLine(general)}`
      : 'not run: the time was up, or this build of the suite has no such spec'
    : 'not run: the suite was stopped before it could report';
  return specs.map((spec) => {
    const entry = ran.get(spec.name);
    if (!entry) return { spec, passed: false, why: missing, seconds: 0 };
    const passed = entry.State === 'passed';
    const why = passed ? '' : firstLine(entry) || entry.State;
    return { spec, passed, why, seconds: Math.round(entry.RunTime / 1e9) };
  });
}

const nameOf = ({ ContainerHierarchyTexts, LeafNodeText }: SpecReport): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText].filter(Boolean).join(' ');

/**
 * The line that says something, without what differs from run to run: a file in git that changes with every run tells nobody
 * anything.
 */
function firstLine({ Failure, State }: SpecReport): string {
  const text = Failure?.ForwardedPanic || Failure?.Message || '';
  const lines = text.split('\n').map((line) => line.trim());
  const line = lines.find((candidate) => candidate !== '' && !isNoise(candidate)) ?? lines.find(Boolean) ?? '';
  const said = line
    .replace(/0x[0-9a-f]{6,}/g, '0x…')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>')
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\s"]*/g, '<time>')
    .replace(/\b(\d+(\.\d+)?(h|m|s|ms|µs))+\b/g, '<duration>')
    .replace(/\b([a-z0-9-]+?)-\d{3,5}\b/g, '$1-<n>')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replaceAll('|', '\\|');
  const prefix = State === 'failed' ? '' : `${State}: `;
  return `${prefix}${said.length > 240 ? `${said.slice(0, 240)}…` : said}`;
}

/** Gomega prints the Go value of an error first, and in words below it. */
const isNoise = (line: string): boolean =>
  /^(<\*?[\w.]+.*> ?[:{]|\{$|Unexpected error:?$|Told to stop|INFO:)/.test(line);
