/** A volume that nobody has claimed says so. */
import { type Controller, itself } from '../controller.ts';
import { isDeleting } from '../pod.ts';
import { VOLUMES } from './volume-matching.ts';

export const volumePhase: Controller = {
  name: 'persistentvolume-controller',
  on: { [VOLUMES]: itself },
  async reconcile(world, _namespace, name) {
    const volume = world.cache.get(VOLUMES, '', name);
    if (!volume || isDeleting(volume) || volume.spec?.claimRef || volume.status?.phase === 'Available') return;
    const status = { ...volume.status, phase: 'Available', lastPhaseTransitionTime: world.timestamp };
    await world.updateStatus(VOLUMES, volume, status);
  },
};
