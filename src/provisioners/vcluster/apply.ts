/** Brings the objects of a vcluster to what they shall be: what is missing or differs is applied, in the order in which they need each other. */
import type { KubeObject } from '../../api/object.ts';
import { ignoreNotFound, isInvalid, keyOf, type ObjectStore } from '../../kube/index.ts';
import * as host from './host-resources.ts';
import { at } from './json-tree.ts';
import { FIELD_MANAGER, FINGERPRINT, ownerOf, PAUSED, PAUSED_DATE, PAUSED_REPLICAS } from './marks.ts';
import { type Blueprint, controlPlaneObject, type HostObject, supportObjects } from './objects.ts';
import { textOf } from './removal.ts';

export interface Applied {
  service: KubeObject;
  statefulSet: KubeObject;
  /** `Service v/team`, … that were missing or different. */
  changed: string[];
}

interface Pair extends HostObject {
  found?: KubeObject;
}

export interface ApplyOptions {
  /** Also what looks as it should: fields that somebody changed by hand come back. */
  isThorough: boolean;
  signal?: AbortSignal;
}

/** `foreign`: something in the way that is not ours. */
export async function applyObjects(
  store: ObjectStore,
  blueprint: Blueprint,
  { isThorough, signal }: ApplyOptions,
): Promise<Applied | { foreign: string }> {
  const read = async (wanted: HostObject): Promise<Pair> => ({
    ...wanted,
    found: await store.get(wanted.resource, keyOf(wanted.object), { signal }).catch(ignoreNotFound),
  });
  const changed: string[] = [];
  const bring = async ({ resource, object, found }: Pair): Promise<KubeObject> => {
    const isRight = found?.metadata.annotations?.[FINGERPRINT] === object.metadata.annotations?.[FINGERPRINT];
    const isStopped = found?.kind === 'StatefulSet' && found.spec?.replicas !== object.spec.replicas;
    if (found && isRight && !isStopped && !isThorough) return found;
    if (!found || !isRight || isStopped) changed.push(textOf(object));
    const apply = (wanted: KubeObject) =>
      store.apply(resource, wanted, { fieldManager: FIELD_MANAGER, force: true, signal });
    return await apply(object).catch((error) => {
      // The port it had was given to somebody else meanwhile: any other will do.
      if (found || !isPortTaken(error) || at(blueprint.config, 'controlPlane.service.httpsNodePort')) throw error;
      return apply(withoutNodePort(object));
    });
  };
  const support = await Promise.all(supportObjects(blueprint).map(read));
  const taken = support.find(({ found }) => found && ownerOf(found) !== blueprint.id);
  if (taken?.found) return { foreign: `${textOf(taken.found)} of the host is not ours` };
  // A binding is only accepted when its role is there.
  const isBinding = ({ resource }: HostObject) => resource.kind.endsWith('Binding');
  const bases = await Promise.all(support.filter((pair) => !isBinding(pair)).map(bring));
  await Promise.all(support.filter(isBinding).map(bring));
  const service = bases.find((o) => o.kind === 'Service' && o.metadata.name === blueprint.name) as KubeObject;
  const wanted = await read(controlPlaneObject(blueprint, service.metadata.uid as string));
  if (wanted.found && ownerOf(wanted.found) !== blueprint.id) {
    return { foreign: `${textOf(wanted.found)} of the host is not ours` };
  }
  const statefulSet = await unpaused(store, await bring(wanted), signal);
  return { service, statefulSet, changed };
}

const isPortTaken = (error: unknown): boolean =>
  isInvalid(error) && (error as Error).message.includes('already allocated');

function withoutNodePort(service: KubeObject): KubeObject {
  const ports = service.spec.ports.map(({ nodePort: _, ...port }: { nodePort?: number }) => port);
  return { ...service, spec: { ...service.spec, ports } };
}

async function unpaused(store: ObjectStore, statefulSet: KubeObject, signal?: AbortSignal): Promise<KubeObject> {
  if (statefulSet.metadata.annotations?.[PAUSED] === undefined) return statefulSet;
  const annotations = { [PAUSED]: null, [PAUSED_REPLICAS]: null, [PAUSED_DATE]: null };
  const patch = { type: 'merge' as const, body: { metadata: { annotations } } };
  return await store.patch(host.statefulSets, keyOf(statefulSet), patch, { fieldManager: FIELD_MANAGER, signal });
}
