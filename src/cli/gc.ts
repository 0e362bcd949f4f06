/** `rookery gc`: what the world has and no object asks for, what objects ask for and the world has not; and removing the first. */
import pc from 'picocolors';
import { TenantHost } from '../embedded/tenant-host.ts';
import { type Connected, connect, type GlobalOptions } from './connect.ts';
import { leftoverFiles } from './gc-files.ts';
import { type Leftover, leftoverThings, lostThings } from './gc-things.ts';
import { columns, print } from './output.ts';

interface GcOptions extends GlobalOptions {
  yes?: boolean;
  allHomes?: boolean;
}

export async function collectGarbage(options: GcOptions): Promise<void> {
  const connected = await connect(options);
  try {
    const { leftovers, troubles } = await found(connected);
    const lost = await lostThings(connected);
    const isChosen = (thing: Leftover) =>
      thing.remove !== undefined && (!thing.isElsewhere || options.allHomes === true);
    const removed: string[] = [];
    if (options.yes) {
      for (const thing of leftovers.filter(isChosen)) removed.push(...(await removeAll(thing, troubles)));
    }
    const facts = { leftovers: leftovers.map(({ remove: _, ...thing }) => thing), lost, removed, troubles };
    await print(options.output, facts, () =>
      [
        table(leftovers),
        lost.length > 0
          ? `\nobjects whose clusters are gone:\n${columns(
              ['OBJECT', 'WHAT'],
              lost.map(({ object, what }) => [object, what]),
            )}`
          : '',
        troubles.length > 0
          ? `\ncould not be looked at or removed:\n${troubles.map((text) => `  ${text}\n`).join('')}`
          : '',
        last(options, leftovers, removed, isChosen),
      ].join(''),
    );
    if (troubles.length > 0) process.exitCode = 1;
  } finally {
    await connected.close();
  }
}

async function found(connected: Connected): Promise<{ leftovers: Leftover[]; troubles: string[] }> {
  const { plane } = connected;
  const { things, troubles } = await leftoverThings(connected, plane && new TenantHost(plane));
  return { leftovers: [...things, ...(await leftoverFiles(connected))], troubles };
}

async function removeAll(thing: Leftover, troubles: string[]): Promise<string[]> {
  try {
    const { removed, why } = (await thing.remove?.()) ?? { removed: [] };
    if (why) troubles.push(`${thing.what}: ${why}`);
    return removed.length > 0 ? removed : why ? [] : [thing.what];
  } catch (error) {
    troubles.push(`${thing.what}: ${(error as Error).message}`);
    return [];
  }
}

function table(leftovers: readonly Leftover[]): string {
  if (leftovers.length === 0) return 'nothing is left over\n';
  return columns(
    ['OF', 'WHAT', 'WHY'],
    leftovers.map(({ of, what, why }) => [of, what, why]),
  );
}

function last(
  options: GcOptions,
  leftovers: readonly Leftover[],
  removed: readonly string[],
  isChosen: (thing: Leftover) => boolean,
): string {
  const elsewhere = leftovers.filter((thing) => thing.isElsewhere).length;
  const hint =
    elsewhere > 0 && !options.allHomes ? `${elsewhere} may belong to another home: --all-homes takes them too\n` : '';
  if (options.yes)
    return removed.length > 0 ? `\nremoved:\n${removed.map((text) => `  ${text}\n`).join('')}${hint}` : hint;
  return leftovers.some(isChosen)
    ? `${hint}${pc.bold('nothing was removed')}; \`rookery gc --yes\` removes them\n`
    : hint;
}
