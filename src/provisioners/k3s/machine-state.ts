/** What `look.sh` found on a machine. */
export interface MachineOwner {
  id: string;
  name: string;
  dataDir: string;
}

export interface MachineState {
  uid: number;
  os: string;
  arch: string;
  hasSystemd: boolean;
  owner?: MachineOwner;
  /** What makes it a node of another cluster, one sentence each. */
  foreign: string[];
  /** SHA-256 of the k3s in place. */
  binary?: string;
  /** Names of programs and image archives that have arrived whole. */
  brought: string[];
  /** Fingerprint of the configuration in place. */
  applied?: string;
  /** It was stopped on purpose. */
  isStopped: boolean;
  /** Whether something keeps k3s running. */
  isKept: boolean;
  restarts: number;
  /** Process of k3s. */
  server?: number;
  /** How many pods have a shim. */
  shims: number;
  kubeconfig?: string;
  log: string;
}

export function parseState(text: string): MachineState {
  const facts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^(\w+) (.*)$/.exec(line) ?? [];
    if (name) facts.set(name, [...(facts.get(name) ?? []), value ?? '']);
  }
  const one = (name: string): string | undefined => facts.get(name)?.[0];
  const decoded = (name: string): string | undefined => {
    const value = one(name);
    return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
  };
  const owner = one('owner');
  return {
    uid: Number(one('uid')),
    os: one('os') ?? '',
    arch: one('arch') ?? '',
    hasSystemd: one('systemd') === 'yes',
    ...(owner ? { owner: JSON.parse(owner) as MachineOwner } : {}),
    foreign: facts.get('foreign') ?? [],
    binary: one('binary'),
    brought: one('brought')?.split(' ').filter(Boolean) ?? [],
    applied: one('applied'),
    isStopped: one('stopped') === 'yes',
    isKept: ['active', 'activating', 'reloading'].includes(one('ActiveState') ?? ''),
    restarts: Number(one('NRestarts') ?? 0),
    ...(one('server') ? { server: Number(one('server')) } : {}),
    shims: Number(one('shims') ?? 0),
    kubeconfig: decoded('kubeconfig'),
    log: decoded('log') ?? '',
  };
}
