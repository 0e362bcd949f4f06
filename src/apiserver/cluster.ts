/**
 * One cluster, awake: its store and everything that works on it. Nothing is shared with other clusters but code and
 * built-in schemas. Opening is cheap and lazy; closing leaves nothing in memory.
 */
import type { Clock, Random } from '../clock.ts';
import type { AdmissionPlugin } from './admission/admission.ts';
import { builtinPlugins } from './admission/index.ts';
import { validatingPolicies } from './admission/policy/index.ts';
import { webhooks } from './admission/webhook/index.ts';
import { Authenticator } from './auth/authenticator.ts';
import { certificateAdmission } from './auth/certificate-admission.ts';
import { type Authorizer, LOOPBACK } from './auth/identity.ts';
import { RbacAuthorizer } from './auth/rbac.ts';
import {
  generateServiceAccountKey,
  loadServiceAccountKey,
  type ServiceAccountKey,
} from './auth/service-account-key.ts';
import { ServiceAccountTokens } from './auth/service-account-tokens.ts';
import type { ClusterContext } from './cluster-context.ts';
import { removeObjects } from './crd/cleanup.ts';
import { CrdController } from './crd/controller.ts';
import { conversionOf } from './crd/conversion-webhook.ts';
import { type ClientCertificates, ClusterCredentials } from './credentials.ts';
import { operationsOn } from './handlers/index.ts';
import { Registry } from './kinds/registry.ts';
import { startLoops } from './loops/index.ts';
import type { Loop } from './loops/loop.ts';
import type { Operations } from './operations.ts';
import { reseal } from './reseal.ts';
import { openStore, type StoreOptions } from './store/sqlite-store.ts';
import type { RenewableSealer, Room, Store } from './store/store.ts';
import { WebhookClient } from './webhook-client/webhook-client.ts';

export interface ClusterOptions {
  name: string;
  file: string;
  clock: Clock;
  random: Random;
  /** PEM; becomes kube-root-ca.crt. */
  serverCa: string;
  sealer?: (meta: Store['meta'], owner: string) => RenewableSealer;
  synchronous?: StoreOptions['synchronous'];
  /** Says whether its store may grow. */
  room?: Room;
  /** Its store turned out to be damaged while it was open. */
  onBroken?: StoreOptions['onBroken'];
  /** Without it certificate requests are kept but never signed. */
  certificates?: ClientCertificates;
  /** Webhooks may not call the machine the server runs on. */
  guardsHost?: boolean;
  /** Admission besides the server's own, and before it. */
  admission?: readonly (AdmissionPlugin | ((authorizer: Authorizer) => AdmissionPlugin))[];
  /** Started after the server's own loops. */
  loops?: readonly Loop[];
}

/** The same for every cluster and every address: tokens must outlive a change of port. The key tells them apart. */
const ISSUER = 'https://kubernetes.default.svc.cluster.local';

export class Cluster implements ClusterContext {
  readonly name: string;
  readonly store: Store;
  readonly registry = new Registry();
  readonly authorizer: RbacAuthorizer;
  readonly admission: readonly AdmissionPlugin[];
  readonly authenticator: Authenticator;
  readonly tokens: ServiceAccountTokens;
  #tokenKeys: { from: readonly unknown[]; keys: ServiceAccountKey[] } | undefined;
  #sealer: RenewableSealer | undefined;
  readonly credentials: ClusterCredentials;
  readonly operations: Operations;
  readonly clock: Clock;
  readonly random: Random;
  readonly loopback = LOOPBACK;
  /** Requests and watches under way; a cluster with any of them does not go to sleep. */
  active = 0;
  lastUsed: number;
  readonly #stops: (() => void)[] = [];
  readonly #startLoops: (rootCa: string) => () => void;
  #stopLoops: () => void;

  constructor(options: ClusterOptions) {
    const { clock, random } = options;
    const makeSealer = options.sealer;
    const sealer =
      makeSealer &&
      ((meta: Store['meta']) => {
        this.#sealer ??= makeSealer(meta, `cluster ${options.name}`);
        return this.#sealer;
      });
    this.name = options.name;
    this.clock = clock;
    this.random = random;
    this.lastUsed = clock.now();
    const { synchronous, onBroken, room } = options;
    this.store = openStore(options.file, { clock, sealer, synchronous, onBroken, room });
    try {
      this.credentials = new ClusterCredentials(this.store.meta, sealer?.(this.store.meta), random, clock);
      // A master key that is newer than this file is taken up at once, outside of any transaction.
      this.#sealer?.renew();
    } catch (error) {
      // Keys that do not open: the file of another cluster. It must not stay open.
      void this.store.close();
      throw error;
    }
    this.authorizer = new RbacAuthorizer(this.store);
    const client = new WebhookClient({ store: this.store, clock, guardsHost: options.guardsHost });
    const hooks = webhooks({ ...this, client });
    const policies = validatingPolicies(this);
    this.admission = [
      ...(options.admission ?? []).map((plugin) => (typeof plugin === 'function' ? plugin(this.authorizer) : plugin)),
      ...builtinPlugins(),
      certificateAdmission(this.authorizer),
      hooks.mutating,
      policies.plugin,
      hooks.validating,
    ];
    const cluster = this;
    this.tokens = new ServiceAccountTokens({
      store: this.store,
      clock,
      random,
      get keys() {
        return cluster.serviceAccountKeys;
      },
      issuer: ISSUER,
      audiences: [ISSUER],
      onIssue: (expires) => this.credentials.tokenKeys.noteUse(expires),
    });
    this.authenticator = new Authenticator({
      credentials: this.credentials.forAuthenticator(),
      tokens: this.tokens,
      authorizer: this.authorizer,
      clock,
    });
    this.operations = operationsOn(this);
    const crds = new CrdController({
      ...this,
      conversion: (crd) => conversionOf(crd, { client, random }),
      removeObjects: (crd) => removeObjects(this.operations, LOOPBACK, crd),
    });
    crds.start();
    const signer = options.certificates && this.credentials.signer(options.name, options.certificates);
    const loops = { ...this, rootCa: options.serverCa, signer };
    this.#startLoops = (rootCa) => startLoops({ ...loops, rootCa });
    this.#stopLoops = this.#startLoops(options.serverCa);
    this.#stops.push(
      () => client.close(),
      hooks.stop,
      policies.stop,
      () => crds.stop(),
      () => this.#stopLoops(),
    );
    for (const start of options.loops ?? []) this.#stops.push(start(loops));
  }

  /** Of what is sealed in its store, where anything is. */
  get sealer(): RenewableSealer | undefined {
    return this.#sealer;
  }

  /**
   * After keys were exchanged: what is sealed is sealed again, and the server's own loops look at everything once more,
   * which brings the new CA and new tokens to where objects carry them.
   */
  async keysChanged(rootCa: string): Promise<void> {
    this.authenticator.forget();
    this.#stopLoops();
    this.#stopLoops = this.#startLoops(rootCa);
    if (this.#sealer) await reseal(this.store, this.#sealer, this.credentials);
  }

  /** Made when the first token is issued or checked: most clusters never see one. */
  get serviceAccountKeys(): ServiceAccountKey[] {
    const { tokenKeys } = this.credentials;
    if (!tokenKeys.newest) tokenKeys.ensure(generateServiceAccountKey);
    const from = tokenKeys.all;
    if (this.#tokenKeys?.from !== from) {
      this.#tokenKeys = { from, keys: from.map(({ value }) => loadServiceAccountKey(value)) };
    }
    return this.#tokenKeys.keys;
  }

  async close(options?: Parameters<Store['close']>[0]): Promise<void> {
    for (const stop of this.#stops.reverse()) stop();
    await this.store.close(options);
  }
}
