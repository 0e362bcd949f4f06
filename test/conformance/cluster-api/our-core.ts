// Our core on an embedded server of its own, with a virtual cluster as workload cluster and the Foo kinds installed.
import type { KubeObject } from '../../../src/api/object.ts';
import { LOOPBACK } from '../../../src/apiserver/index.ts';
import { clusterApiAdmission } from '../../../src/controllers/core/admission/plugin.ts';
import { coreControllers } from '../../../src/controllers/core/index.ts';
import { InProcessStore } from '../../../src/embedded/in-process-store.ts';
import { installCrds } from '../../../src/embedded/install-crds.ts';
import { interceptStore, Manager, type ObjectStore } from '../../../src/kube/index.ts';
import { trustingPolicy } from '../../../src/provisioners/testing/trusting-policy.ts';
import { simulation } from '../../../src/provisioners/virtual/simulation/index.ts';
import { startServer } from '../../harness/server.ts';
import type { Workload } from './foo-providers.ts';
import { installFooKinds } from './scenario.ts';
import { virtualWorkload } from './workload.ts';

export interface OurCore {
  store: ObjectStore;
  workload: Workload;
  /** Calls the core made since it was asked last. */
  calls(): string[];
  /** How often it has been started. */
  lives(): number;
  /** Failures of the server itself; a test that ends with any has found a bug. */
  errors: unknown[];
  stop(): Promise<void>;
}

export interface OurCoreOptions {
  /** The core dies after so many writes, the last of them done but not known to be, and starts again. */
  writesToLive?: () => number;
}

export async function startOurCore(options: OurCoreOptions = {}): Promise<OurCore> {
  const server = await startServer({ loops: [simulation], admission: [clusterApiAdmission] });
  await installCrds(server.root);
  const store = new InProcessStore({ cluster: async () => server.root, identity: LOOPBACK });
  await installFooKinds(store);
  const workload = await virtualWorkload(server);
  const stop = new AbortController();
  let calls: string[] = [];
  const counted = interceptStore(store, {
    before: ({ verb, resource, key }) => {
      calls.push(`${verb} ${resource.plural} ${key?.name ?? ''}`);
    },
  });
  let lives = 0;
  const running = (async () => {
    while (!stop.signal.aborted) {
      lives++;
      await live(counted, stop.signal, options.writesToLive?.());
    }
  })();
  return {
    store,
    workload,
    errors: server.errors,
    lives: () => lives,
    calls() {
      const made = calls;
      calls = [];
      return made;
    },
    async stop() {
      stop.abort();
      await running;
      await server.close();
    },
  };
}

/** One life of the core, to its end or to the end of the test. */
async function live(store: ObjectStore, signal: AbortSignal, writesToLive = Number.POSITIVE_INFINITY): Promise<void> {
  const death = new AbortController();
  const onAbort = () => death.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  let writes = 0;
  const mortal = interceptStore(store, {
    before: ({ isWrite }) => {
      if (isWrite && writes >= writesToLive) throw new Error('dead');
    },
    after: ({ isWrite }) => {
      if (!isWrite || ++writes < writesToLive) return;
      death.abort();
      throw new Error('died');
    },
  });
  const manager = new Manager({ store: mortal });
  coreControllers(manager, { store: mortal, host: trustingPolicy });
  await manager.run(death.signal);
  signal.removeEventListener('abort', onAbort);
}

/** Until `holds`; what it throws counts as not yet. */
export async function eventually<T>(what: string, holds: () => Promise<T | undefined | false>): Promise<T> {
  const end = Date.now() + 30_000;
  let problem: unknown;
  for (;;) {
    try {
      const result = await holds();
      if (result) return result;
    } catch (error) {
      problem = error;
    }
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`, { cause: problem });
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export function conditionText(object: KubeObject, type: string): string {
  const found = object.status?.conditions?.find((condition: { type: string }) => condition.type === type);
  return found ? `${found.status} ${found.reason}: ${found.message}` : 'absent';
}
