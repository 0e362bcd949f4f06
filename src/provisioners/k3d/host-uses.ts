import type { KubeObject } from '../../api/object.ts';
import { type HostUse, pathUse, portUse, present } from '../host-use.ts';
import type { K3dSpec } from './config.ts';

/** What Docker takes for the name of a volume; everything else is a path to it. */
const VOLUME_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/;

/** Arguments of k3s, environment and registries act inside of the nodes, which `containers` is about. */
export function k3dHostUses(object: KubeObject): HostUse[] {
  const { apiAddress, apiPort, ports = [], volumes = [], controlPlaneEndpoint } = object.spec as Partial<K3dSpec>;
  return present([
    { capability: 'containers', field: 'spec' },
    portUse('spec.apiAddress', { address: apiAddress, anywhere: false }),
    portUse('spec.apiPort', { port: apiPort, anywhere: false }),
    portUse('spec.controlPlaneEndpoint.port', { port: controlPlaneEndpoint?.port, anywhere: false }),
    ...ports.map(({ hostPort, listenAddress }, index) =>
      portUse(`spec.ports[${index}]`, { port: hostPort, address: listenAddress, anywhere: true }),
    ),
    ...volumes.map(({ hostPath }, index): HostUse => {
      const field = `spec.volumes[${index}].hostPath`;
      // A volume of Docker may hold the data of another user.
      return VOLUME_NAME.test(hostPath) ? { capability: 'paths', field, value: hostPath } : pathUse(field, hostPath);
    }),
  ]);
}
