import type { KubeObject } from '../../api/object.ts';
import { type HostUse, pathUse, portUse, present } from '../host-use.ts';
import type { KindSpec } from './config.ts';

/** Patches of kubeadm and containerd act inside of the nodes, which `containers` is about. */
export function kindHostUses(object: KubeObject): HostUse[] {
  const spec = object.spec as Partial<KindSpec>;
  const { networking = {}, nodes = [], controlPlaneEndpoint } = spec;
  return present([
    { capability: 'containers', field: 'spec' },
    portUse('spec.networking.apiServerAddress', { address: networking.apiServerAddress, anywhere: false }),
    portUse('spec.networking.apiServerPort', { port: networking.apiServerPort, anywhere: false }),
    portUse('spec.controlPlaneEndpoint.port', { port: controlPlaneEndpoint?.port, anywhere: false }),
    ...nodes.flatMap(({ extraMounts = [], extraPortMappings = [] }, node) => [
      ...extraMounts.map(({ hostPath }, index) =>
        pathUse(`spec.nodes[${node}].extraMounts[${index}].hostPath`, hostPath),
      ),
      ...extraPortMappings.map(({ hostPort, listenAddress }, index) =>
        portUse(`spec.nodes[${node}].extraPortMappings[${index}]`, {
          port: hostPort,
          address: listenAddress,
          anywhere: true,
        }),
      ),
    ]),
  ]);
}
