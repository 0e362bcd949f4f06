/** How one workspace behaves: its template's defaults, with what the instance overrides where the template lets it. */
import type { KubeObject } from '../../api/object.ts';
import type { WorkspaceTemplate } from '../../api/workshop/workspace-template.ts';
import { durationMs } from './duration.ts';

type Defaults = NonNullable<WorkspaceTemplate['spec']['defaults']>;

export interface Settings {
  mode: 'persistent' | 'ephemeral';
  ttlMs?: number;
  idleSuspend: boolean;
  cluster: { mode: 'none' | 'per-workspace' | 'shared'; version?: string; provisioner: string };
  limits: { cpu?: string; memory?: string; disk?: string };
  egress: { host: string; port: number }[];
  webTerminal: boolean;
}

export function settingsOf(template: KubeObject, instance: KubeObject): Settings {
  const own: Defaults = instance.spec?.overrides ?? {};
  const common: Defaults = template.spec?.defaults ?? {};
  const lifecycle = { ...common.lifecycle, ...own.lifecycle };
  const cluster = { ...common.cluster, ...own.cluster };
  return {
    mode: lifecycle.mode ?? 'persistent',
    ...(lifecycle.ttl ? { ttlMs: durationMs(lifecycle.ttl) } : {}),
    idleSuspend: lifecycle.idleSuspend ?? false,
    cluster: { ...cluster, mode: cluster.mode ?? 'none', provisioner: cluster.provisioner ?? 'auto' },
    limits: { ...common.resources, ...own.resources },
    egress: template.spec?.network?.egress ?? [],
    webTerminal: own.access?.webTerminal ?? common.access?.webTerminal ?? true,
  };
}

/** What instances may override unless their template says otherwise. */
const USUALLY = [
  'lifecycle.ttl',
  'lifecycle.idleSuspend',
  'resources.cpu',
  'resources.memory',
  'resources.disk',
  'access.webTerminal',
];

export interface LockedField {
  /** `spec.overrides.cluster.mode`. */
  field: string;
  rule: string;
}

/** Overrides that the template does not allow, with the rule each of them breaks. */
export function lockedFields(template: KubeObject, instance: KubeObject): LockedField[] {
  const { allow = [], deny = [], maxTTL } = template.spec?.overridePolicy ?? {};
  const name = template.metadata.name;
  const locked = paths(instance.spec?.overrides ?? {})
    .filter((path) => deny.includes(path) || !(USUALLY.includes(path) || allow.includes(path)))
    .map((path) => ({
      field: `spec.overrides.${path}`,
      rule: deny.includes(path)
        ? `the template ${name} denies it (overridePolicy.deny)`
        : `the template ${name} does not allow it: it may be added to overridePolicy.allow`,
    }));
  const ttl = instance.spec?.overrides?.lifecycle?.ttl;
  if (ttl && maxTTL && durationMs(ttl) > durationMs(maxTTL)) {
    const rule = `${ttl} is longer than ${maxTTL}, the longest the template ${name} allows (overridePolicy.maxTTL)`;
    locked.push({ field: 'spec.overrides.lifecycle.ttl', rule });
  }
  return locked;
}

export function stepIds(template: KubeObject): string[] {
  return (template.spec?.steps ?? []).map((step: { id: string }) => step.id);
}

/** `lifecycle.ttl` and the like, for everything that is set. */
function paths(tree: object, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = prefix ? `${prefix}.${key}` : key;
    return value !== null && typeof value === 'object' ? paths(value, path) : [path];
  });
}
