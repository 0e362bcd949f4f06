/** The pods behind a Service, one by one: where they are, on which ports, and whether they take traffic. */
import { matchesLabels, selectorFromObject } from '../../../../api/label-selector.ts';
import type { KubeObject } from '../../../../api/object.ts';
import { type Change, keyOf } from '../controller.ts';
import { isDeleting, isFinished, isReady, PODS } from '../pod.ts';
import type { World } from '../world.ts';

export const SERVICES = '/services';

export interface Port {
  name: string;
  port: number;
  protocol: string;
  appProtocol?: string;
}

export interface Endpoint {
  pod: KubeObject;
  ip: string;
  ports: Port[];
  ready: boolean;
  serving: boolean;
  terminating: boolean;
}

export function endpointsOf(world: World, service: KubeObject): Endpoint[] {
  const selector = selectorFromObject({ matchLabels: service.spec.selector }) ?? [];
  const found: Endpoint[] = [];
  for (const pod of world.cache.list(PODS, service.metadata.namespace ?? '')) {
    const ip = pod.status?.podIP;
    if (!ip || isFinished(pod) || !matchesLabels(selector, pod.metadata.labels)) continue;
    const serving = isReady(pod);
    const terminating = isDeleting(pod);
    const published = Boolean(service.spec.publishNotReadyAddresses);
    const ready = published || (serving && !terminating);
    found.push({ pod, ip, ports: portsOf(service, pod), ready, serving, terminating });
  }
  return found.sort((a, b) => (a.ip < b.ip ? -1 : 1));
}

/** Named target ports are looked up in the pod; a pod without the port does not offer it. */
function portsOf(service: KubeObject, pod: KubeObject): Port[] {
  const ports: Port[] = [];
  for (const { name = '', protocol = 'TCP', port, targetPort, appProtocol } of service.spec.ports ?? []) {
    const number = typeof targetPort === 'string' ? namedPort(pod, targetPort, protocol) : targetPort || port;
    if (number) ports.push({ name, port: number, protocol, ...(appProtocol ? { appProtocol } : {}) });
  }
  return ports;
}

function namedPort(pod: KubeObject, name: string, protocol: string): number | undefined {
  const sidecars = (pod.spec.initContainers ?? []).filter(
    (c: { restartPolicy?: string }) => c.restartPolicy === 'Always',
  );
  for (const container of [...(pod.spec.containers ?? []), ...sidecars]) {
    for (const port of container.ports ?? []) {
      if (port.name === name && (port.protocol ?? 'TCP') === protocol) return port.containerPort;
    }
  }
  return undefined;
}

export function targetOf({ pod, ip }: Endpoint) {
  const { name, namespace, uid } = pod.metadata;
  return { ip, nodeName: pod.spec.nodeName, targetRef: { kind: 'Pod', namespace, name, uid } };
}

/** Services that select the pod, as it is or as it was. */
export function* servicesOfPod({ current, previous }: Change, world: World): Generator<string> {
  const namespace = (current ?? previous)?.key.namespace ?? '';
  if (world.cache.count(SERVICES, namespace) === 0) return;
  const labels = [current, previous].map((stored) => stored?.object().metadata.labels);
  for (const service of world.cache.list(SERVICES, namespace)) {
    const matchLabels = service.spec?.selector;
    if (!matchLabels) continue;
    const selector = selectorFromObject({ matchLabels }) ?? [];
    if (labels.some((set) => set && matchesLabels(selector, set))) yield keyOf(service.metadata);
  }
}

export function isHeadless({ spec }: KubeObject): boolean {
  return spec?.clusterIP === 'None';
}

/** Large services are written at most this often: a thousand pods that start must not cause a thousand large writes. */
export function pauseFor(endpoints: number): number {
  return endpoints > 100 ? 250 : 0;
}
