/** Serves the terminals and pages of workspaces. */
import { existsSync } from 'node:fs';
import { type Clock, type Random, systemClock, systemRandom } from '../clock.ts';
import type { Terminals, WorkspaceHost } from '../embedded/workspace-host.ts';
import type { ObjectStore } from '../kube/index.ts';
import type { Logger } from '../telemetry/log.ts';
import type { LinkKeys } from '../vault/link-keys.ts';
import { TerminalSessions } from './terminal/terminal-sessions.ts';
import { TrustedProxies } from './trusted-proxies.ts';
import { WorkspaceAccess } from './workspace-access.ts';
import { WorkspaceLinks } from './workspace-links.ts';
import { WorkspaceServer } from './workspace-server.ts';

export interface ServeWorkspacesOptions {
  store: ObjectStore;
  host: WorkspaceHost;
  linkKeys: LinkKeys;
  address: string;
  port: number;
  /** Default none. */
  trustedProxies?: readonly string[];
  /** The site that links lead to, where a proxy serves it. Default: where the pages are served. */
  publicUrl?: string;
  log: Logger;
  clock?: Clock;
  random?: Random;
}

export interface ServedWorkspaces extends Terminals {
  /** Where they are reached on this machine, whatever links say. */
  localUrl: string;
}

export async function serveWorkspaces(options: ServeWorkspacesOptions): Promise<ServedWorkspaces> {
  const { store, host, linkKeys, address, port, log, clock = systemClock, random = systemRandom } = options;
  const links = new WorkspaceLinks(linkKeys, clock, random);
  const access = new WorkspaceAccess(store, clock, (name) => host.workload(name));
  const sessions = new TerminalSessions({ clock });
  const beside = new URL('./page/', import.meta.url);
  // Run from source, the page is where the build put it.
  const assets = existsSync(beside) ? beside : new URL('../../dist/http/page/', import.meta.url);
  const proxies = new TrustedProxies(options.trustedProxies ?? []);
  const { publicUrl } = options;
  const parts = { links, access, sessions, assets, proxies, publicUrl, host: address, clock, log };
  const server = await WorkspaceServer.start({ ...parts, port }).catch((error: NodeJS.ErrnoException) => {
    // The page is not worth a control plane that does not start: any free port does.
    if (error.code !== 'EADDRINUSE') throw error;
    return WorkspaceServer.start({ ...parts, port: 0 });
  });
  return {
    localUrl: server.url,
    urlOf: (namespace, name) => server.urlOf({ namespace, name }),
    end: (id) => sessions.end(id),
    close: () => server.close(),
  };
}
