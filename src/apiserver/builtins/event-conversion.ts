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

/** Both are called v1, so the object's own group tells the direction: it becomes the other face. */
export function convertEvent(event: KubeObject, toVersion: string): void {
  const toCore = toVersion === 'v1' ? event.apiVersion === 'events.k8s.io/v1' : toVersion !== 'events.k8s.io/v1';
  const toEvents = toVersion === 'events.k8s.io/v1' || (toVersion === 'v1' && event.apiVersion === 'v1');
  for (const [core, other] of NAMES) {
    const [from, to] = toCore ? [other, core] : [core, other];
    if ((toCore || toEvents) && event[from] !== undefined) {
      event[to] = event[from];
      delete event[from];
    }
  }
  if (toCore) event.apiVersion = 'v1';
  else if (toEvents) event.apiVersion = 'events.k8s.io/v1';
}
