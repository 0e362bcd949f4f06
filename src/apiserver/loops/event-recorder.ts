/** Core Events that loops leave on objects they have something to say about. */
import type { KubeObject } from '../../api/object.ts';
import { rfc3339 } from '../../clock.ts';
import { builtin, type LoopContext, WRITE, warn } from './loop.ts';

export async function recordWarning(
  context: LoopContext,
  component: string,
  about: KubeObject,
  reason: string,
  message: string,
): Promise<void> {
  const { name = '', namespace, uid } = about.metadata;
  // Events about cluster-scoped objects live in `default`, as client-go's recorder puts them.
  const home = namespace || 'default';
  const now = context.clock.now();
  const event: KubeObject = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${context.random.bytes(8).toString('hex')}`, namespace: home },
    involvedObject: { kind: about.kind, apiVersion: about.apiVersion, name, uid, ...(namespace ? { namespace } : {}) },
    reason,
    message,
    type: 'Warning',
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: rfc3339(now),
    lastTimestamp: rfc3339(now),
    count: 1,
  };
  try {
    await context.operations.create(builtin(context, '', 'v1', 'events'), home, event, WRITE);
  } catch (error) {
    // An Event is a comment; the work it comments on must not fail for it.
    warn(context, `event ${reason} on ${about.kind} ${name} was not recorded`, error);
  }
}
