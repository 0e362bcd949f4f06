/** `rookery status` */
import { clusters } from '../api/resources.ts';
import { diskReport } from '../embedded/disk-report.ts';
import { readState } from '../embedded/state-file.ts';
import { RookeryError } from '../errors.ts';
import { listAll } from '../kube/index.ts';
import { backupReport } from './backup-report.ts';
import { stateOf } from './cluster-list.ts';
import { connect, type GlobalOptions, homeOf } from './connect.ts';
import { age, print } from './output.ts';

export async function status(options: GlobalOptions): Promise<void> {
  const home = homeOf(options);
  const found = await readState(home);
  if (found && found.phase !== 'serving') {
    const { phase, pid, startedAt } = found;
    return print(
      options.output,
      { running: false, phase, pid, startedAt, home: home.path },
      () => `control plane  ${phase}, pid ${pid}, since ${age(startedAt, Date.now())}\n`,
    );
  }
  if (!found) {
    if (options.output !== 'table') await print(options.output, { running: false, home: home.path }, () => '');
    throw new RookeryError('control-plane.down', 'no control plane is running', {
      hint: 'start one with `rookery up`',
    });
  }
  const { state, store, close } = await connect(options);
  try {
    const { items } = await listAll(store, clusters, {});
    const ready = items.filter((cluster) => stateOf(cluster) === 'Ready').length;
    const disk = await diskReport(home);
    const backups = await backupReport(state, Date.now());
    const facts = {
      running: true,
      ...state,
      home: home.path,
      kubeconfig: home.kubeconfig,
      clusters: items.length,
      ready,
      disk,
      ...(backups ? { backups } : {}),
    };
    await print(options.output, facts, () =>
      [
        `control plane  running, pid ${state.pid}, up ${age(state.startedAt, Date.now())}`,
        ...(state.command ? [`               hosted by \`${state.command}\` until that ends`] : []),
        `API            ${state.url}`,
        `kubeconfig     ${home.kubeconfig}`,
        `home           ${home.path}`,
        `disk           ${disk.message}`,
        ...(backups ? [`backups        ${backups.message}`] : []),
        `clusters       ${items.length} (${ready} ready)`,
        '',
      ].join('\n'),
    );
  } finally {
    await close();
  }
}
