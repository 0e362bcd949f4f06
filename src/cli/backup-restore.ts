/** `rookery backup restore`: a whole home, or one cluster of a home that is in use. */
import type { KubeObject } from '../api/object.ts';
import { systemClock } from '../clock.ts';
import { STORE_DECISION_ANNOTATION, SUSPENDED_ANNOTATION } from '../controllers/provisioned-cluster-scope.ts';
import { layReady } from '../embedded/backup/restore-cluster.ts';
import { restoreHome } from '../embedded/backup/restore-home.ts';
import { claimHome, removeState } from '../embedded/state-file.ts';
import { RookeryError } from '../errors.ts';
import { tenantName } from '../provisioners/virtual/tenants.ts';
import { existingBackup, progressLine } from './backup-options.ts';
import { backupSecret } from './backup-secret.ts';
import { findProvided } from './cluster-lookup.ts';
import { isReadyNow, waitForProvider } from './cluster-wait.ts';
import { connect, type GlobalOptions, homeOf } from './connect.ts';
import { seconds } from './numbers.ts';
import { print } from './output.ts';
import { progressView } from './progress-view.ts';
import { hasStoreTrouble } from './store-trouble.ts';
import { rookeryVersion } from './version.ts';

interface RestoreOptions extends GlobalOptions {
  keyFile?: string;
  cluster?: string;
  namespace: string;
  replace?: boolean;
  timeout: string;
}

export async function restoreBackup(options: RestoreOptions, name: string): Promise<void> {
  const file = existingBackup(name);
  const secret = await backupSecret(options.keyFile, false);
  const onProgress = progressLine('unpacking', options.output);
  const parts = { file, secret, clock: systemClock, onProgress };
  if (options.cluster) return await restoreCluster(options, options.cluster, parts);
  const home = homeOf(options);
  const command = `rookery backup restore ${name}`;
  const holder = await claimHome(home, { startedAt: new Date().toISOString(), version: rookeryVersion(), command });
  if (holder) {
    const hint = 'stop it with `rookery down`; or restore one cluster while it runs, with --cluster';
    throw refusal('backup.home-in-use', `a control plane (pid ${holder.pid}) uses ${home.path}`, hint);
  }
  try {
    const { manifest, aside } = await restoreHome({ home, replace: options.replace ?? false, ...parts });
    await print(options.output, { home: home.path, ...manifest, replaced: aside }, () =>
      [
        `${home.path} is as it was at ${manifest.createdAt}: the control plane and ${manifest.clusters.length} clusters`,
        ...manifest.skipped.map(({ cluster, why }) => `not in the backup: ${cluster} (${why})`),
        ...(aside ? [`what was there before is in ${aside}`] : []),
        'Start it with `rookery up`.',
        '',
      ].join('\n'),
    );
  } finally {
    await removeState(home);
  }
}

type Parts = Pick<Parameters<typeof layReady>[0], 'file' | 'secret' | 'clock' | 'onProgress'>;

async function restoreCluster(options: RestoreOptions, name: string, parts: Parts): Promise<void> {
  const timeoutMs = seconds(options.timeout, '--timeout');
  const { home, store, signal, close } = await connect(options);
  try {
    const { way, key, provider } = await findProvided(store, options.namespace, name);
    if (way.fidelity !== 'simulated') throw notHere(name, way.name);
    if (!hasStoreTrouble(provider) && !options.replace) throw isWell(name);
    const manifest = await layReady({ home, tenant: tenantName(key.namespace, key.name), ...parts });
    const annotations = { [STORE_DECISION_ANNOTATION]: 'restore', [SUSPENDED_ANNOTATION]: null };
    await store.patch(way.resource, key, { type: 'merge', body: { metadata: { annotations } } });
    const view = progressView({ title: `${name} (${way.name})`, output: options.output });
    const isRestored = (object: KubeObject) =>
      isReadyNow(object) && !object.metadata.annotations?.[STORE_DECISION_ANNOTATION];
    await waitForProvider(store, way, key, isRestored, {
      timeoutMs,
      signal,
      view,
      what: `cluster ${name} to be ready`,
    });
    await print(options.output, { name, state: 'ready', restoredTo: manifest.createdAt }, () =>
      [
        `cluster ${name} is as it was at ${manifest.createdAt}`,
        `its credentials are those of that time; fetch its kubeconfig again: rookery cluster kubeconfig ${name} --path`,
        '',
      ].join('\n'),
    );
  } finally {
    await close();
  }
}

function isWell(name: string): RookeryError {
  const hint = 'say so with --replace; what it holds now is kept in data/replaced below --home';
  return refusal('backup.cluster-well', `the store of cluster ${name} is whole, and a restore would replace it`, hint);
}

function notHere(name: string, way: string): RookeryError {
  const hint = `${way} keeps what it stores; only the objects about it are in backups`;
  return refusal('backup.not-virtual', `cluster ${name} has no store in this home`, hint);
}

function refusal(code: string, message: string, hint: string): RookeryError {
  return new RookeryError(code, message, { class: 'user', hint });
}
