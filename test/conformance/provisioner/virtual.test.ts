// Virtual clusters on a server of their own: the same suite as for real tools. What runs in the background is the server itself: it is
// ended and started again on its folder.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { EmbeddedServer } from '../../../src/embedded/embedded-server.ts';
import { TenantHost } from '../../../src/embedded/tenant-host.ts';
import { VirtualProvisioner } from '../../../src/provisioners/virtual/virtual-provisioner.ts';
import { provisionerConformance } from './provisioner.ts';

provisionerConformance('virtual', async () => {
  const home = mkdtempSync(join(tmpdir(), 'rookery-virtual-conformance-'));
  const start = () => EmbeddedServer.start({ config: loadConfig({}, { home, port: 0 }), hasRoot: false });
  let server = await start();
  const files = (...path: string[]) => {
    try {
      return readdirSync(join(home, ...path));
    } catch {
      return [];
    }
  };
  return {
    prefix: 'conf-',
    open: () => new VirtualProvisioner(new TenantHost(server)),
    spec: () => ({ controlPlanes: 1, nodes: 3 }),
    hasOneAddress: true,
    servesApi: true,
    scaled: (spec, more) => ({ ...spec, nodes: (spec.nodes ?? 2) + more }),
    killTools: async () => {
      await server.close();
      server = await start();
    },
    foreign: async (name) => {
      await server.clusters.ensure(name);
      return async () => void (await server.clusters.drop(name));
    },
    leftovers: async () => [
      ...files('data', 'clusters'),
      ...files('data', 'snapshots'),
      ...files('provisioners', 'virtual'),
    ],
    close: async () => {
      await server.close();
      rmSync(home, { recursive: true, force: true });
    },
    patienceMs: 60_000,
    callMs: 30_000,
    killPoints: [0, 10],
  };
});
