// Programs from published Go modules. The folder in `modules/` pins them: go.sum holds every hash, and -mod=readonly
// makes the toolchain refuse anything else.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { scratch } from '../cache.ts';
import type { GoSource, Part } from '../part.ts';
import { modulesFolder } from '../paths.ts';
import { run, tryRun } from '../process.ts';
import type { BuildContext } from './context.ts';

function goEnvironment(source: GoSource): NodeJS.ProcessEnv {
  return {
    ...process.env,
    CGO_ENABLED: source.cgo ? '1' : '0',
    GOFLAGS: '-buildvcs=false',
    GOWORK: 'off',
    // The checksum database does not answer for some of these paths; the committed go.sum does.
    GONOSUMDB: '*',
    GOTOOLCHAIN: 'local',
    // Compilers are short-lived: an eighth of their time goes into collecting what ends with them anyway.
    GOGC: process.env.GOGC ?? '400',
  };
}

interface GoCall {
  readonly pinned: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal | undefined;
  readonly log?: string;
}

/** The verified folder of a pinned module in the module cache. */
async function moduleFolder(module: string, { pinned, ...call }: GoCall): Promise<string> {
  const answer = await run('go', ['mod', 'download', '-json', module], { ...call, cwd: pinned, timeoutMs: 600_000 });
  return (JSON.parse(answer) as { Dir: string }).Dir;
}

async function copiedModule(source: GoSource & { copyOf: string }, call: GoCall): Promise<string> {
  const original = await moduleFolder(source.copyOf, call);
  const copy = join(scratch(source.folder), 'source');
  await run('cp', ['-r', '--no-preserve=mode', original, copy]);
  for (const [from, to] of Object.entries(source.overlay ?? {}))
    cpSync(join(copy, from), join(copy, to), { recursive: true });
  return copy;
}

const tagsOf = (source: GoSource): string[] => (source.tags ? ['-tags', source.tags.join(' ')] : []);
const gentle = (): number => Number(process.env.BED_NICE ?? 10);

/** Downloads what the build of a part will ask for, while another one is compiled. What fails here is said by the build. */
export async function fetchGo(part: Part, signal: AbortSignal): Promise<void> {
  if (part.source.from !== 'go') return;
  const { source } = part;
  const call = { env: goEnvironment(source), pinned: join(modulesFolder, source.folder), signal };
  const cwd = source.copyOf ? await moduleFolder(source.copyOf, call) : call.pinned;
  const mains = Object.values({ ...source.programs, ...source.testPrograms });
  // Only what these programs import, not all that go.mod names.
  const list = ['list', '-mod=readonly', '-e', '-deps', ...tagsOf(source), '-f', '{{""}}', ...mains];
  await tryRun('go', list, { cwd, env: call.env, signal, nice: gentle() });
}

/** What Go calls the program of a package if it is not told: the last part of the path that is no version. */
const goName = (main: string): string => basename(main.replace(/\/v\d+$/, ''));

/** As few groups as possible in which no two programs are called the same by Go: what Go calls it → its name and package. */
function groups(programs: Readonly<Record<string, string>>): Map<string, [name: string, main: string]>[] {
  const made: Map<string, [string, string]>[] = [];
  for (const program of Object.entries(programs)) {
    const called = goName(program[1]);
    const group = made.find((candidate) => !candidate.has(called));
    if (group) group.set(called, program);
    else made.push(new Map([[called, program]]));
  }
  return made;
}

export async function buildGo(context: BuildContext): Promise<void> {
  const { part, output, log, signal } = context;
  if (part.source.from !== 'go') throw new Error(`${part.name} is not built from Go modules`);
  const source = part.source;
  const env = goEnvironment(source);
  const pinned = join(modulesFolder, source.folder);
  const call = { pinned, env, log, signal };
  const cwd = source.copyOf ? await copiedModule({ ...source, copyOf: source.copyOf }, call) : pinned;
  const goVersion = (await run('go', ['env', 'GOVERSION'], { env })).trim();
  const ldflags = ['-s', '-w', ...(source.ldflags ?? [])].join(' ').replaceAll('$GOVERSION', goVersion);
  mkdirSync(join(output, 'bin'), { recursive: true });
  // A copy is built with the go.sum that came in its own verified zip; vendoring folders are not published.
  const flags = ['-mod=readonly', '-trimpath', ...tagsOf(source), '-ldflags', ldflags];
  const go = (...args: string[]): Promise<string> => run('go', args, { cwd, env, log, signal, nice: gentle() });
  const programs = join(output, 'bin');
  for (const group of groups(source.programs)) {
    const wanted = [...group.values()];
    // One call for several: while one is linked, which takes one core, the packages of the next are compiled.
    const target = wanted.length === 1 ? join(programs, wanted[0]?.[0] ?? '') : `${programs}/`;
    await go('build', ...flags, '-o', target, ...wanted.map(([, main]) => main));
    if (wanted.length > 1)
      for (const [called, [name]] of group) renameSync(join(programs, called), join(programs, name));
  }
  // Looking for mistakes in other people's tests takes longer than building them.
  for (const [name, main] of Object.entries(source.testPrograms ?? {}))
    await go('test', '-c', '-vet=off', ...flags, '-o', join(programs, name), main);
  if (source.keep) {
    const original = await moduleFolder(source.keep.of, call);
    for (const folder of source.keep.folders) {
      mkdirSync(join(output, 'keep', folder, '..'), { recursive: true });
      await run('cp', ['-r', '--no-preserve=mode', join(original, folder), join(output, 'keep', folder)]);
    }
  }
  context.resolved.go = goVersion;
  const sums = join(pinned, 'go.sum');
  if (existsSync(sums)) context.resolved.sums = String(readFileSync(sums, 'utf8').split('\n').length - 1);
}
