// Started beside every service; ends it when nobody holds it any more. See service.ts for why.
import { existsSync } from 'node:fs';
import { sleep } from '../process.ts';
import { stopIfUnused } from './service.ts';

const folder = process.argv[2];
if (!folder) throw new Error('usage: reaper <instance folder>');
// ctrl-c in a terminal reaches whole process groups; the reaper is the one who must outlive them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
while (existsSync(folder) && !(await stopIfUnused(folder))) await sleep(1000);
