// Debian's packages, two ways: the system's own suite by apt-get install, newer suites by unpacking single .deb files
// that a private apt (its own sources, lists and cache) downloaded and verified. The system's libc is never upgraded.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../lock.ts';
import { bedHome } from '../paths.ts';
import { run } from '../process.ts';
import type { BuildContext } from './context.ts';

const listsAreFreshMs = 24 * 3600 * 1000;

/** The archive this machine already uses: the bed names no host, it only asks the same one for another suite. */
export async function archive(): Promise<string> {
  const list = await run('apt-get', [
    'indextargets',
    '--format',
    '$(REPO_URI) $(CODENAME) $(COMPONENT)',
    'Created-By: Packages',
  ]);
  const own = list
    .split('\n')
    .map((line) => line.split(' '))
    .find(([uri, suite, component]) => suite === 'bookworm' && component === 'main' && !uri?.includes('security'));
  if (!own?.[0]) throw new Error('no Debian bookworm archive among this machine’s apt sources');
  return own[0];
}

async function privateApt(suite: string, { log, signal }: BuildContext): Promise<NodeJS.ProcessEnv> {
  const home = join(bedHome, 'apt', suite);
  mkdirSync(join(home, 'lists', 'partial'), { recursive: true });
  mkdirSync(join(home, 'cache', 'archives', 'partial'), { recursive: true });
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  writeFileSync(join(home, 'sources.list'), `deb [signed-by=${keyring}] ${await archive()} ${suite} main\n`);
  const config = {
    'Dir::Etc::sourcelist': join(home, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::Etc::preferencesparts': '-',
    'Dir::State::lists': join(home, 'lists'),
    'Dir::Cache': join(home, 'cache'),
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'APT::Sandbox::User': 'root',
  };
  writeFileSync(
    join(home, 'apt.conf'),
    Object.entries(config)
      .map(([key, value]) => `${key} "${value}";\n`)
      .join(''),
  );
  const env = { ...process.env, APT_CONFIG: join(home, 'apt.conf') };
  const stamp = join(home, 'updated');
  if (!existsSync(stamp) || Date.now() - statSync(stamp).mtimeMs > listsAreFreshMs) {
    await run('apt-get', ['update'], { env, log, signal, timeoutMs: 300_000 });
    writeFileSync(stamp, '');
  }
  return env;
}

async function resolve(name: string, prefix: string, env: NodeJS.ProcessEnv): Promise<string> {
  const table = await run('apt-cache', ['madison', name], { env });
  const versions = table
    .split('\n')
    .map((line) => line.split('|')[1]?.trim() ?? '')
    .filter(Boolean);
  const match = versions.find((version) => version.replace(/^\d+:/, '').startsWith(prefix));
  if (!match) throw new Error(`no ${name} ${prefix}* in that suite; it has ${versions.join(', ') || 'none'}`);
  return match;
}

export async function unpackDebian(context: BuildContext): Promise<void> {
  const { part, output, log, signal } = context;
  if (part.source.from !== 'debian') throw new Error(`${part.name} is not from Debian`);
  const { suite, packages } = part.source;
  const unpack = async (): Promise<void> => {
    const env = await privateApt(suite, context);
    const folder = join(output, '.deb');
    mkdirSync(folder, { recursive: true });
    for (const [name, prefix] of Object.entries(packages)) {
      const version = await resolve(name, prefix, env);
      await run('apt-get', ['download', `${name}=${version}`], { cwd: folder, env, log, signal, timeoutMs: 600_000 });
      const file = readdirSync(folder).find((entry) => entry.startsWith(`${name}_`));
      if (!file) throw new Error(`apt-get download left no ${name}_*.deb`);
      await run('dpkg-deb', ['-x', join(folder, file), output], { log });
      const digest = createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex');
      context.resolved[name] = `${version} sha256:${digest}`;
    }
    await run('rm', ['-rf', folder]);
  };
  await withLock(`apt-${suite}`, unpack, { signal });
}

export async function installPackages({ part, log, signal }: BuildContext): Promise<void> {
  if (part.source.from !== 'apt') throw new Error(`${part.name} is not from apt`);
  const { packages } = part.source;
  // A package's service must not start by itself: the bed starts what it needs, on ports of its own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const options = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  const apt = (...args: string[]): Promise<string> =>
    run('apt-get', [...options, ...args], { env, log, signal, timeoutMs: 900_000 });
  const download = (): Promise<string> => apt('install', '--download-only', ...packages);
  const install = async (): Promise<void> => {
    await download().catch(async () => {
      await apt('update');
      await download();
    });
    // From here on the clock does not stop it: half an installation is worse than a late one. An earlier one may have been killed.
    await run('dpkg', ['--configure', '-a'], { env, log, timeoutMs: 600_000 });
    await run('apt-get', [...options, 'install', ...packages], { env, log, timeoutMs: 600_000 });
  };
  await withLock('apt-system', install, { signal });
}
