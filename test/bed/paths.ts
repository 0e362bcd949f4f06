// Every place the bed writes to. All of it is below one folder, so that removing the bed is removing that folder.
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const bedSource = dirname(fileURLToPath(import.meta.url));
export const modulesFolder = join(bedSource, 'modules');

export const bedHome = process.env.ROOKERY_BED_HOME ?? join(homedir(), '.cache', 'rookery-bed');
export const partsFolder = join(bedHome, 'parts');
export const scratchFolder = join(bedHome, 'tmp');
export const logsFolder = join(bedHome, 'logs');
export const locksFolder = join(bedHome, 'locks');
export const runFolder = join(bedHome, 'run');
/** Docker's images and containers; kept between runs so that a warm start loads nothing. */
export const dockerFolder = join(bedHome, 'docker');
