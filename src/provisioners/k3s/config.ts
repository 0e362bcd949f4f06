/** What k3s is given, from the spec of a K3sCluster: its configuration, its service, its addresses. Pure: the same spec gives the same text. */
import { createHash } from 'node:crypto';
import type { K3sCluster } from '../../api/infrastructure/k3s-cluster.ts';
import { HOME, script } from './scripts.ts';

export type K3sSpec = K3sCluster['spec'];
export type Supervision = 'systemd' | 'process';

/** What a container calls the machine it runs on (`--add-host host.docker.internal:host-gateway`). */
const GATEWAY = 'host.docker.internal';
/** After the machine's own: a k3s without tools of its own looks for network plugins there. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/cni/bin:/usr/lib/cni';

/** Where the API server is reached from this machine, and from a container. */
export function addressesOf({ host, port }: K3sSpec): { external: string; internal: string } {
  const address = host.ssh?.address ?? '127.0.0.1';
  const external = urlOf(address, port);
  // A container on this machine does not reach it by a loopback address.
  const isLoopback = /^(127\.|::1$|localhost$)/.test(address);
  return { external, internal: isLoopback ? urlOf(GATEWAY, port) : external };
}

function urlOf(address: string, port: number): string {
  return `https://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** JSON, which is YAML too. */
export function k3sConfig(spec: K3sSpec): string {
  const names = [spec.host.ssh?.address, GATEWAY, ...(spec.tlsSans ?? [])].filter((name) => name !== undefined);
  const config: Record<string, unknown> = {
    'data-dir': spec.dataDir,
    'token-file': `${HOME}/token`,
    'https-listen-port': spec.port,
    'write-kubeconfig': `${HOME}/kubeconfig`,
    'write-kubeconfig-mode': '0600',
    'tls-san': [...new Set(names)],
    ...(spec.disable?.length ? { disable: spec.disable } : {}),
    ...(spec.clusterCIDR ? { 'cluster-cidr': spec.clusterCIDR } : {}),
    ...(spec.serviceCIDR ? { 'service-cidr': spec.serviceCIDR } : {}),
  };
  for (const arg of spec.k3sArgs ?? []) {
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    const known = config[name];
    if (known === undefined) config[name] = value ?? true;
    else config[name] = [...(Array.isArray(known) ? known : [known]), value ?? true];
  }
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** `KillMode=process`: pods go on while k3s itself is started anew, as in an upgrade. */
export function serviceUnit(): string {
  return `[Unit]
Description=k3s, made by Rookery
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
Environment=PATH=${PATH}
ExecStartPre=-/sbin/modprobe br_netfilter
ExecStartPre=-/sbin/modprobe overlay
ExecStart=${HOME}/bin/k3s server --config ${HOME}/config.yaml
KillMode=process
Delegate=yes
Restart=always
RestartSec=2
TimeoutStopSec=30
LimitNOFILE=1048576
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity

[Install]
WantedBy=multi-user.target
`;
}

export interface HostFile {
  path: string;
  text: string;
  mode: number;
}

/** Every file that is written for k3s, apart from its program and its token. */
export function filesFor(spec: K3sSpec, supervision: Supervision, unitPath: string): HostFile[] {
  const template = spec.containerdTemplate;
  const name = template && /^\s*version\s*=\s*2\b/m.test(template) ? 'config.toml.tmpl' : 'config-v3.toml.tmpl';
  return [
    { path: `${HOME}/config.yaml`, text: k3sConfig(spec), mode: 0o600 },
    ...(template ? [{ path: `${spec.dataDir}/agent/etc/containerd/${name}`, text: template, mode: 0o600 }] : []),
    supervision === 'systemd'
      ? { path: unitPath, text: serviceUnit(), mode: 0o644 }
      : { path: `${HOME}/supervise`, text: script('supervise'), mode: 0o600 },
  ];
}

/** Changes when k3s has to be started anew to follow. The supervisor's text is none of that: the next one has the new text. */
export function fingerprint(files: HostFile[]): string {
  const hash = createHash('sha256');
  for (const { path, text } of files) if (path !== `${HOME}/supervise`) hash.update(`${path}\0${text}\0`);
  return hash.digest('hex').slice(0, 16);
}

/** What the cluster must have to be called ready. */
export function expectationOf(spec: K3sSpec): { nodes: number; hasNetwork: boolean; hasDns: boolean } {
  const hasNetwork = !spec.k3sArgs?.includes('--flannel-backend=none');
  return { nodes: 1, hasNetwork, hasDns: hasNetwork && !spec.disable?.includes('coredns') };
}
