/** The parts of a pod that its security depends on. */
import type { ObjectMeta } from '../../../api/object.ts';

interface SecurityContext {
  privileged?: boolean;
  allowPrivilegeEscalation?: boolean;
  capabilities?: { add?: string[]; drop?: string[] };
  procMount?: string;
  runAsNonRoot?: boolean;
  runAsUser?: number;
  seLinuxOptions?: { type?: string; user?: string; role?: string };
  seccompProfile?: { type: string };
  appArmorProfile?: { type: string };
  windowsOptions?: { hostProcess?: boolean };
  sysctls?: { name: string }[];
}

interface Handler {
  httpGet?: { host?: string };
  tcpSocket?: { host?: string };
}

export interface Container {
  name: string;
  image?: string;
  securityContext?: SecurityContext;
  ports?: { hostPort?: number }[];
  livenessProbe?: Handler;
  readinessProbe?: Handler;
  startupProbe?: Handler;
  lifecycle?: { postStart?: Handler; preStop?: Handler };
}

export interface PodSpec {
  containers?: Container[];
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: ({ name: string } & Record<string, unknown>)[];
  securityContext?: SecurityContext;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  hostUsers?: boolean;
  os?: { name: string };
}

/** A pod, or the template of one. */
export interface PodLike {
  metadata?: ObjectMeta;
  spec?: PodSpec;
}

export function containersOf({ initContainers, containers, ephemeralContainers }: PodSpec): Container[] {
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
}

/** Names of the containers for which something holds. */
export function namesWhere(spec: PodSpec, holds: (container: Container) => boolean): string[] {
  return containersOf(spec)
    .filter(holds)
    .map(({ name }) => name);
}
