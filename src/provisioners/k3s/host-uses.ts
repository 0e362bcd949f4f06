import type { KubeObject } from '../../api/object.ts';
import { type HostUse, pathUse, portUse, present } from '../host-use.ts';
import type { K3sSpec } from './config.ts';

/** `--kube-apiserver-arg=audit-policy-file=/etc/policy.yaml`, `--container-runtime-endpoint=unix:///run/x.sock`. */
const NAMES_FILE = /=(\w+:\/\/)?\//;
const USUAL_DATA_DIR = '/var/lib/rancher/k3s';

/** Over SSH a path may be one of that machine: what is not in a folder that may be used is looked for there alone. */
export function k3sHostUses(object: KubeObject): HostUse[] {
  const spec = object.spec as Partial<K3sSpec>;
  const { host, binary, airgapImages = [], dataDir = USUAL_DATA_DIR, k3sArgs = [], port } = spec;
  const isLocal = !host?.ssh;
  const path = (field: string, value: string): HostUse =>
    isLocal ? pathUse(field, value) : { capability: 'paths', field, value };
  return present([
    isLocal
      ? { capability: 'machine', field: 'spec.host' }
      : { capability: 'ssh', field: 'spec.host.ssh', value: host?.ssh },
    binary === undefined ? undefined : path('spec.binary', binary),
    ...airgapImages.map((file, index) => path(`spec.airgapImages[${index}]`, file)),
    isLocal && dataDir !== USUAL_DATA_DIR ? pathUse('spec.dataDir', dataDir) : undefined,
    // Files that k3s reads as root, many of them of the system: /run/systemd/resolve/resolv.conf.
    ...k3sArgs.map((arg, index): HostUse | undefined =>
      isLocal && NAMES_FILE.test(arg)
        ? { capability: 'paths', field: `spec.k3sArgs[${index}]`, value: arg }
        : undefined,
    ),
    portUse('spec.port', { port, anywhere: false }),
  ]);
}
