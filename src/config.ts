/** Every setting, read once: flags win over the environment, the environment over the defaults. */
import { homedir, tmpdir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { RookeryError } from './errors.ts';

export interface Config {
  /** Everything Rookery keeps on this machine lives below this folder. */
  home: string;
  /** Address and port of the embedded API server; port 0 means any free one. */
  host: string;
  port: number;
  /** Port of the pages of workspaces, at the same address. */
  webPort: number;
  /** Addresses and networks (`10.0.0.0/8`) of proxies whose word on how a request came to them is taken. */
  trustedProxies: string[];
  /** Where people find the pages, when it is not where they are served: the site of a proxy. */
  publicUrl?: string;
  /** Folders of this machine that clusters may be given: mounts, programs, archives of images. */
  hostFolders: string[];
  /** Namespaces whose users are trusted with this machine; `*` means all. */
  hostNamespaces: string[];
  logLevel: LogLevel;
  /** `full`: an acknowledged write also survives a power cut; slower. */
  durability: 'normal' | 'full';
  /** How much the store of a virtual cluster may hold. */
  storage: StorageSettings;
  /** Milliseconds between backups; absent: none are made by themselves. */
  backupEvery?: number;
  /** How many whole backups stay. */
  backupKeep: number;
  /** Default: `backups` below the home. */
  backupFolder?: string;
  backupKeyFile?: string;
}

export interface StorageSettings {
  /** What a cluster gets that does not ask for another limit: bytes of JSON, and objects. */
  bytes: number;
  objects: number;
  /** The most a cluster can ask for. */
  max: { bytes: number; objects: number };
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];
const DURABILITIES = ['normal', 'full'] as const;

/** Next to the usual 6443, so that a real cluster on this machine keeps its port. */
export const DEFAULT_PORT = 7443;
const DEFAULT_WEB_PORT = 7480;
export const DEFAULT_STORAGE: StorageSettings = {
  bytes: 256 * 2 ** 20,
  objects: 100_000,
  max: { bytes: 256 * 2 ** 20, objects: 100_000 },
};
const DEFAULT_KEEP = 7;

export function loadConfig(env: NodeJS.ProcessEnv, flags: Partial<Config> = {}): Config {
  return {
    home: resolve(flags.home ?? env.ROOKERY_HOME ?? join(homedir(), '.rookery')),
    host: flags.host ?? env.ROOKERY_HOST ?? '127.0.0.1',
    port: flags.port ?? port(env.ROOKERY_PORT),
    webPort:
      flags.webPort ?? (env.ROOKERY_WEB_PORT ? parsePort(env.ROOKERY_WEB_PORT, 'ROOKERY_WEB_PORT') : DEFAULT_WEB_PORT),
    trustedProxies: flags.trustedProxies ?? parseNames(env.ROOKERY_TRUSTED_PROXIES),
    publicUrl: flags.publicUrl ?? site('ROOKERY_PUBLIC_URL', env.ROOKERY_PUBLIC_URL),
    hostFolders: flags.hostFolders ?? folders('ROOKERY_HOST_FOLDERS', env.ROOKERY_HOST_FOLDERS) ?? usualFolders(env),
    hostNamespaces: flags.hostNamespaces ?? parseNames(env.ROOKERY_HOST_NAMESPACES),
    logLevel: flags.logLevel ?? oneOf('ROOKERY_LOG_LEVEL', LOG_LEVELS, env.ROOKERY_LOG_LEVEL, 'warn'),
    durability: flags.durability ?? oneOf('ROOKERY_DURABILITY', DURABILITIES, env.ROOKERY_DURABILITY, 'normal'),
    storage: flags.storage ?? storage(env),
    backupEvery: flags.backupEvery ?? optional(env.ROOKERY_BACKUP_EVERY, 'ROOKERY_BACKUP_EVERY', parseInterval),
    backupKeep:
      flags.backupKeep ?? optional(env.ROOKERY_BACKUP_KEEP, 'ROOKERY_BACKUP_KEEP', parseCount) ?? DEFAULT_KEEP,
    backupFolder: flags.backupFolder ?? (env.ROOKERY_BACKUP_FOLDER || undefined),
    backupKeyFile: flags.backupKeyFile ?? (env.ROOKERY_BACKUP_KEY_FILE || undefined),
  };
}

/** Clusters may ask for more than they are given only where the operator says so. */
function storage(env: NodeJS.ProcessEnv): StorageSettings {
  const bytes = amount('ROOKERY_STORAGE_BYTES', env.ROOKERY_STORAGE_BYTES, DEFAULT_STORAGE.bytes);
  const objects = amount('ROOKERY_STORAGE_OBJECTS', env.ROOKERY_STORAGE_OBJECTS, DEFAULT_STORAGE.objects);
  const max = {
    bytes: amount('ROOKERY_STORAGE_MAX_BYTES', env.ROOKERY_STORAGE_MAX_BYTES, bytes),
    objects: amount('ROOKERY_STORAGE_MAX_OBJECTS', env.ROOKERY_STORAGE_MAX_OBJECTS, objects),
  };
  return { bytes, objects, max };
}

const UNITS: Record<string, number> = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, k: 1e3, M: 1e6, G: 1e9 };

/** `268435456` or `256Mi`. */
function amount(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback;
  const [, digits, unit = ''] = /^(\d+)([a-zA-Z]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (digits !== undefined && factor !== undefined) return Number(digits) * factor;
  throw new RookeryError('config.value', `${name}: ${JSON.stringify(text)} is not an amount`, {
    class: 'user',
    hint: 'write a whole number, with Ki, Mi, Gi, k, M or G after it or without, such as 256Mi',
  });
}

function optional<T>(
  text: string | undefined,
  where: string,
  parse: (text: string, where: string) => T,
): T | undefined {
  return text ? parse(text, where) : undefined;
}

const INTERVALS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Longer than that no timer can be set. */
const INTERVAL_MAX = 24 * (INTERVALS.d as number);

/** `30m`, `6h`, `1d`, in milliseconds. */
export function parseInterval(text: string, where: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text.trim()) ?? [];
  const ms = Number(count) * (INTERVALS[unit] ?? 0);
  if (ms > 0 && ms <= INTERVAL_MAX) return ms;
  throw new RookeryError('config.interval', `${where}: ${JSON.stringify(text)} is not an interval`, {
    class: 'user',
    hint: 'use minutes, hours or days, such as 30m, 6h or 1d; at most 24d',
  });
}

export function parseCount(text: string, where: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new RookeryError('config.count', `${where}: ${JSON.stringify(text)} is not a number above 0`, {
    class: 'user',
  });
}

export function parsePort(text: string, where: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 65535 && text.trim() !== '') return value;
  throw new RookeryError('config.port', `${where}: ${JSON.stringify(text)} is not a port`, {
    class: 'user',
    hint: 'use a number from 0 (any free port) to 65535',
  });
}

function port(text: string | undefined): number {
  return text === undefined ? DEFAULT_PORT : parsePort(text, 'ROOKERY_PORT');
}

/** Separated by commas or blanks. */
export function parseNames(text = ''): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** Where people keep their projects and what they install themselves; not the system, and not other users' homes. */
function usualFolders(env: NodeJS.ProcessEnv): string[] {
  const tools = env.ROOKERY_TOOLS ? [resolve(env.ROOKERY_TOOLS)] : [];
  return [homedir(), tmpdir(), '/mnt', '/opt', '/srv', '/usr/local', ...tools].filter((folder) => folder !== '/');
}

/** As in PATH. */
function folders(name: string, text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined;
  const named = text.split(delimiter).filter(Boolean);
  const relative = named.find((folder) => !isAbsolute(folder));
  if (relative === undefined) return named;
  throw new RookeryError('config.value', `${name}: ${JSON.stringify(relative)} is not an absolute path`, {
    class: 'user',
    hint: `separate folders with ${JSON.stringify(delimiter)}, such as /srv/data${delimiter}/home/ann/projects`,
  });
}

/** `https://class.example.com`, without a trailing slash. */
function site(name: string, text: string | undefined): string | undefined {
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new RookeryError('config.value', `${name}: ${JSON.stringify(text)} is not the address of a site`, {
    class: 'user',
    hint: 'write protocol, host and port alone, such as https://class.example.com or http://10.0.0.5:8080',
  });
}

function oneOf<T extends string>(name: string, allowed: readonly T[], value: string | undefined, fallback: T): T {
  if (value === undefined || value === '') return fallback;
  if ((allowed as readonly string[]).includes(value)) return value as T;
  throw new RookeryError('config.value', `${name}: ${JSON.stringify(value)} is not one of ${allowed.join(', ')}`, {
    class: 'user',
  });
}
