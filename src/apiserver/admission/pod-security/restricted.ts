/** What the restricted level asks for besides: the least a container can do with. */
import type { Check } from './baseline.ts';
import { type Container, containersOf, namesWhere, type PodSpec } from './pod.ts';
import { containers, plural, quoted, setters, sorted, type Violation } from './wording.ts';

const isWindows = (spec: PodSpec, minor: number): boolean => minor >= 25 && spec.os?.name === 'windows';

export const allowPrivilegeEscalation: Check = (spec, _, minor) => {
  if (minor < 8 || isWindows(spec, minor)) return undefined;
  const bad = namesWhere(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containers(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

export const restrictedCapabilities: Check = (spec, _, minor) => {
  if (minor < 22 || isWindows(spec, minor)) return undefined;
  const foreign = ({ securityContext }: Container) =>
    (securityContext?.capabilities?.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE');
  const keeping = namesWhere(spec, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'));
  const adding = namesWhere(spec, (container) => foreign(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) details.push(`${containers(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    const added = quoted(sorted(containersOf(spec).flatMap(foreign)));
    details.push(`${containers(adding)} must not include ${added} in securityContext.capabilities.add`);
  }
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
/** In the order in which they are looked for. */
const RESTRICTED_VOLUMES =
  'hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos'.split(
    ' ',
  );

export const restrictedVolumes: Check = (spec) => {
  const bad = (spec.volumes ?? []).filter((volume) => !VOLUMES.some((type) => volume[type]));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => RESTRICTED_VOLUMES.find((type) => volume[type]) ?? 'unknown'));
  const names = quoted(bad.map(({ name }) => name));
  const what = plural('restricted volume type', 'restricted volume types', types.length);
  const detail = `${plural('volume', 'volumes', bad.length)} ${names} ${plural('uses', 'use', bad.length)} ${what} ${quoted(types)}`;
  return { reason: 'restricted volume types', detail };
};

/** Root in a user namespace of its own is nobody outside. */
const mayBeRoot = (spec: PodSpec, minor: number): boolean => minor >= 35 && spec.hostUsers === false;

export const runAsNonRoot: Check = (spec, _, minor) => {
  if (mayBeRoot(spec, minor)) return undefined;
  const own = spec.securityContext?.runAsNonRoot;
  const root = setters(
    own === false,
    namesWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === false),
  );
  const reason = 'runAsNonRoot != true';
  if (root) return { reason, detail: `${root} must not set securityContext.runAsNonRoot=false` };
  const silent = namesWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === undefined && own !== true);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containers(silent)} must set securityContext.runAsNonRoot=true` };
};

export const runAsUser: Check = (spec, _, minor) => {
  if (minor < 23 || mayBeRoot(spec, minor)) return undefined;
  const who = setters(
    spec.securityContext?.runAsUser === 0,
    namesWhere(spec, ({ securityContext }) => securityContext?.runAsUser === 0),
  );
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
};

const PROFILES = ['RuntimeDefault', 'Localhost'];

export const restrictedSeccompProfile: Check = (spec, _, minor): Violation | undefined => {
  if (minor < 19 || isWindows(spec, minor)) return undefined;
  const isBad = (profile?: { type: string }) => profile !== undefined && !PROFILES.includes(profile.type);
  const own = spec.securityContext?.seccompProfile;
  const bad = containersOf(spec).filter(({ securityContext }) => isBad(securityContext?.seccompProfile));
  const who = setters(
    isBad(own),
    bad.map(({ name }) => name),
  );
  if (who) {
    const profiles = [own, ...bad.map(({ securityContext }) => securityContext?.seccompProfile)].filter(isBad);
    const types = quoted(sorted(profiles.map((profile) => profile?.type ?? '')));
    return {
      reason: 'seccompProfile',
      detail: `${who} must not set securityContext.seccompProfile.type to ${types}`,
    };
  }
  const silent = namesWhere(spec, ({ securityContext }) => !securityContext?.seccompProfile && !own);
  if (silent.length === 0) return undefined;
  const detail = `pod or ${containers(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason: 'seccompProfile', detail };
};
