/** `rookery gc`: what the world has and no object asks for, what objects ask for and the world has not; and removing the first. */
import pc from 'picocolors';
import { TenantHost } from '../embedded/tenant-host.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { leftoverFiles } from './gc-files.ts';
import { type Leftover, leftoverThings, lostThings, type Trouble, troubleText } from './gc-things.ts';
import { columns, print } from './output.ts';

interface GcOptions extends GlobalOptions {
  yes?: boolean;
  allHomes?: boolean;
}

export async function collectGarbage(options: GcOptions): Promise<void> {
  const connected = await connect(options);
  try {
    const { plane } = connected;
    const { things, troubles } = await leftoverThings(connected, plane && new TenantHost(plane));
    const leftovers = [...things, ...(await leftoverFiles(connected))];
    const lost = await lostThings(connected);
    const isChosen = (thing: Leftover) =>
      thing.remove !== undefined && (!thing.isElsewhere || options.allHomes === true);
    const removed = options.yes ? await removeAll(leftovers.filter(isChosen), troubles) : [];
    const facts = {
      leftovers: leftovers.map(({ remove: _, ...thing }) => thing),
      lost,
      removed,
      troubles: troubles.map(({ text }) => text),
    };
    await print(options.output, facts, () =>
      [
        table(leftovers),
        listText(
          'objects whose clusters are gone',
          lost.map(({ object, what }) => `${object}: ${what}`),
        ),
        listText(
          'could not be looked at or removed',
          troubles.map(({ way, text }) => (way ? `${way}: ${text}` : text)),
        ),
        listText('removed', removed),
        last(options, leftovers, isChosen),
      ].join(''),
    );
    if (troubles.length > 0) process.exitCode = 1;
  } finally {
    await connected.close();
  }
}

/** Clusters first. The folder of one that could not be removed, or looked for, stays: it says whose the rest is. */
async function removeAll(leftovers: readonly Leftover[], troubles: Trouble[]): Promise<string[]> {
  const removed: string[] = [];
  for (const thing of leftovers) {
    const isOpen = troubles.some(({ way, id }) => way === thing.way && (id === undefined || id === thing.id));
    if (thing.way && isOpen) continue;
    const { way, id, what } = thing;
    try {
      const done = await thing.remove?.();
      removed.push(...(done?.removed.length ? done.removed : done?.why ? [] : [what]));
      if (done?.why) troubles.push({ way, id, text: `${what}: ${done.why}` });
    } catch (error) {
      troubles.push({ way, id, text: `${what}: ${troubleText(error)}` });
    }
  }
  return removed;
}

function listText(title: string, lines: readonly string[]): string {
  return lines.length > 0 ? `\n${title}:\n${lines.map((line) => `  ${line}\n`).join('')}` : '';
}

function table(leftovers: readonly Leftover[]): string {
  if (leftovers.length === 0) return 'nothing is left over\n';
  return columns(
    ['OF', 'WHAT', 'WHY'],
    leftovers.map(({ of, what, why }) => [of, what, why]),
  );
}

function last(options: GcOptions, leftovers: readonly Leftover[], isChosen: (thing: Leftover) => boolean): string {
  const elsewhere = leftovers.filter((thing) => thing.isElsewhere).length;
  const hint =
    elsewhere > 0 && !options.allHomes ? `${elsewhere} may belong to another home: --all-homes takes them too\n` : '';
  if (options.yes || !leftovers.some(isChosen)) return hint;
  return `${hint}${pc.bold('nothing was removed')}; \`rookery gc --yes\` removes them\n`;
}
