/** What the baseline level refuses: known ways out of a container. In the order, and the words, of upstream. */

import { own } from '../../json.ts';
import { type Container, containersOf, namesWhere, type PodLike, type PodSpec } from './pod.ts';
import { containers, plural, quoted, setters, sorted, type Violation } from './wording.ts';

/** Undefined when there is nothing to say against the pod. */
export type Check = (spec: PodSpec, pod: PodLike, minor: number) => Violation | undefined;

const APPARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const PROFILES = ['RuntimeDefault', 'Localhost'];

export const appArmorProfile: Check = (spec, pod) => {
  const isBad = (profile?: { type: string }) => profile !== undefined && !PROFILES.includes(profile.type);
  const podIsBad = isBad(spec.securityContext?.appArmorProfile);
  const bad = containersOf(spec).filter((container) => isBad(container.securityContext?.appArmorProfile));
  const types = [spec, ...bad].map((one) => one.securityContext?.appArmorProfile);
  const values = sorted(types.filter(isBad).map((profile) => profile?.type ?? ''));
  const annotations = Object.entries(pod.metadata?.annotations ?? {})
    .filter(([key, value]) => key.startsWith(APPARMOR_PREFIX) && !isAllowedAnnotation(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const all = [...values, ...annotations];
  if (all.length === 0) return undefined;
  const who = [
    setters(
      podIsBad,
      bad.map(({ name }) => name),
    ),
    annotations.length > 0 ? plural('annotation', 'annotations', annotations.length) : '',
  ];
  const detail = `${who.filter(Boolean).join(' and ')} must not set AppArmor profile type to ${quoted(all)}`;
  return { reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', all.length), detail };
};

function isAllowedAnnotation(profile: string): boolean {
  return profile === '' || profile === 'runtime/default' || profile.startsWith('localhost/');
}

const CAPABILITIES = new Set(
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT'.split(
    ' ',
  ),
);

export const capabilities: Check = (spec) => {
  const foreign = ({ securityContext }: Container) =>
    (securityContext?.capabilities?.add ?? []).filter((capability) => !CAPABILITIES.has(capability));
  const bad = namesWhere(spec, (container) => foreign(container).length > 0);
  if (bad.length === 0) return undefined;
  const added = quoted(sorted(containersOf(spec).flatMap(foreign)));
  return {
    reason: 'non-default capabilities',
    detail: `${containers(bad)} must not include ${added} in securityContext.capabilities.add`,
  };
};

export const hostNamespaces: Check = (spec) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name]);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((name) => `${name}=true`).join(', ') };
};

export const hostPathVolumes: Check = (spec) => {
  const names = (spec.volumes ?? []).filter((volume) => volume.hostPath).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}` };
};

export const hostPorts: Check = (spec) => {
  const portsOf = ({ ports }: Container) => (ports ?? []).flatMap(({ hostPort }) => (hostPort ? [`${hostPort}`] : []));
  const bad = namesWhere(spec, (container) => portsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = sorted(containersOf(spec).flatMap(portsOf));
  const uses = `${plural('uses', 'use', bad.length)} ${plural('hostPort', 'hostPorts', ports.length)}`;
  return { reason: 'hostPort', detail: `${containers(bad)} ${uses} ${ports.join(', ')}` };
};

export const hostProbesAndHostLifecycle: Check = (spec, _, minor) => {
  if (minor < 34) return undefined;
  const hostsOf = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Container) =>
    [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap((handler) =>
      [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host) => host !== undefined && host !== ''),
    ) as string[];
  const bad = sorted(namesWhere(spec, (container) => hostsOf(container).length > 0));
  if (bad.length === 0) return undefined;
  const hosts = sorted(containersOf(spec).flatMap(hostsOf));
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length);
  return {
    reason: 'probe or lifecycle host',
    detail: `${containers(bad)} ${plural('uses', 'use', bad.length)} ${what} ${quoted(hosts)}`,
  };
};

export const privileged: Check = (spec) => {
  const bad = namesWhere(spec, ({ securityContext }) => securityContext?.privileged === true);
  if (bad.length === 0) return undefined;
  return { reason: 'privileged', detail: `${containers(bad)} must not set securityContext.privileged=true` };
};

export const anyProcMount: Check = (spec) => {
  const isBad = ({ securityContext }: Container) => (securityContext?.procMount ?? 'Default') !== 'Default';
  const bad = containersOf(spec).filter(isBad);
  if (bad.length === 0) return undefined;
  const types = quoted(sorted(bad.map(({ securityContext }) => securityContext?.procMount ?? '')));
  const names = containers(bad.map(({ name }) => name));
  return { reason: 'procMount', detail: `${names} must not set securityContext.procMount to ${types}` };
};

/** In a user namespace of its own a pod may see more of /proc. */
export const procMount: Check = (spec, pod, minor) =>
  minor >= 35 && spec.hostUsers === false ? undefined : anyProcMount(spec, pod, minor);

const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

export const seLinuxOptions: Check = (spec, _, minor) => {
  const allowed = minor >= 31 ? [...SELINUX_TYPES, 'container_engine_t'] : SELINUX_TYPES;
  type Options = NonNullable<NonNullable<PodSpec['securityContext']>['seLinuxOptions']>;
  const isBad = ({ type = '', user, role }: Options) => !allowed.includes(type) || Boolean(user) || Boolean(role);
  const podOptions = spec.securityContext?.seLinuxOptions;
  const podIsBad = podOptions !== undefined && isBad(podOptions);
  const bad = containersOf(spec).filter(({ securityContext }) => isBad(securityContext?.seLinuxOptions ?? {}));
  if (!podIsBad && bad.length === 0) return undefined;
  const options = [...(podOptions ? [podOptions] : []), ...bad.map((one) => one.securityContext?.seLinuxOptions ?? {})];
  const types = sorted(options.map(({ type = '' }) => type).filter((type) => !allowed.includes(type)));
  const data = [
    ...(types.length > 0 ? [`${plural('type', 'types', types.length)} ${quoted(types)}`] : []),
    ...(options.some(({ user }) => user) ? ['user may not be set'] : []),
    ...(options.some(({ role }) => role) ? ['role may not be set'] : []),
  ];
  const who = setters(
    podIsBad,
    bad.map(({ name }) => name),
  );
  return {
    reason: 'seLinuxOptions',
    detail: `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
  };
};

const isBadSeccomp = (profile?: { type: string }): boolean => profile !== undefined && !PROFILES.includes(profile.type);

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';

/** Before there was a field for it. */
function seccompAnnotations(spec: PodSpec, pod: PodLike): Violation | undefined {
  const annotations = pod.metadata?.annotations ?? {};
  const isAllowed = (value: string) => /^(runtime\/default|docker\/default)$|^localhost\//.test(value);
  const keys = [SECCOMP_POD, ...containersOf(spec).map(({ name }) => SECCOMP_CONTAINER + name)];
  const bad = sorted(
    keys
      .filter((key) => annotations[key] !== undefined && !isAllowed(annotations[key]))
      .map((key) => `${key}=${JSON.stringify(annotations[key])}`),
  );
  if (bad.length === 0) return undefined;
  const detail = `forbidden ${plural('annotation', 'annotations', bad.length)} ${bad.join(', ')}`;
  return { reason: 'seccompProfile', detail };
}

export const seccompProfile: Check = (spec, pod, minor) => {
  if (minor < 19) return seccompAnnotations(spec, pod);
  const own = spec.securityContext?.seccompProfile;
  const bad = containersOf(spec).filter(({ securityContext }) => isBadSeccomp(securityContext?.seccompProfile));
  if (!isBadSeccomp(own) && bad.length === 0) return undefined;
  const profiles = [own, ...bad.map(({ securityContext }) => securityContext?.seccompProfile)];
  const types = sorted(profiles.filter(isBadSeccomp).map((profile) => profile?.type ?? ''));
  const who = setters(
    isBadSeccomp(own),
    bad.map(({ name }) => name),
  );
  return {
    reason: 'seccompProfile',
    detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  };
};

/** Settings that concern the pod alone, and the version that first allowed them. */
const SYSCTLS: Record<string, number> = {
  'kernel.shm_rmid_forced': 0,
  'net.ipv4.ip_local_port_range': 0,
  'net.ipv4.tcp_syncookies': 0,
  'net.ipv4.ping_group_range': 0,
  'net.ipv4.ip_unprivileged_port_start': 0,
  'net.ipv4.ip_local_reserved_ports': 27,
  'net.ipv4.tcp_keepalive_time': 29,
  'net.ipv4.tcp_fin_timeout': 29,
  'net.ipv4.tcp_keepalive_intvl': 29,
  'net.ipv4.tcp_keepalive_probes': 29,
  'net.ipv4.tcp_rmem': 32,
  'net.ipv4.tcp_wmem': 32,
};

export const sysctls: Check = (spec, _, minor) => {
  const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name);
  const bad = names.filter((name) => (own(SYSCTLS, name) ?? Number.POSITIVE_INFINITY) > minor);
  return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
};

export const windowsHostProcess: Check = (spec) => {
  const isHost = ({ securityContext }: Pick<Container, 'securityContext'>) =>
    securityContext?.windowsOptions?.hostProcess === true;
  const who = setters(isHost(spec), namesWhere(spec, isHost));
  if (who === '') return undefined;
  return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
};
