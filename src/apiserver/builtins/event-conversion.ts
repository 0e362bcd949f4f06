/** Events have two faces: core/v1 (stored) and events.k8s.io/v1, with other names for the same fields. */
import type { KubeObject } from '../../api/object.ts';

/** core/v1 name → events.k8s.io/v1 name. */
const NAMES: Array<[string, string]> = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

/** In place, to `v1` or `events.k8s.io/v1`. */
export function convertEvent(event: KubeObject, apiVersion: string): void {
  const toCore = apiVersion === 'v1';
  for (const [core, other] of NAMES) {
    const [from, to] = toCore ? [other, core] : [core, other];
    if (event[from] === undefined) continue;
    event[to] = event[from];
    delete event[from];
  }
  event.apiVersion = apiVersion;
}
