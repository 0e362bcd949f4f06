// Bundles src/ into dist/ when something in src/ is newer: a few files instead of hundreds, because loading modules one
// by one is most of what a start costs. Types are checked by `make lint`, not here. Safe to run twice at once: each
// build goes to a folder of its own and is moved into place whole.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const source = join(root, 'src');
const target = join(root, 'dist');
const stampFile = join(target, '.stamp');

/** Names, sizes and times of all sources: equal stamps mean nothing to do. */
function stamp() {
  const parts = ['package.json', 'tools/build.mjs', 'tools/compile.mjs'].map((file) => statLine(join(root, file)));
  for (const entry of readdirSync(source, { recursive: true })) {
    if (/\.(ts|json|sh)$/.test(entry) && isBuilt(entry)) parts.push(statLine(join(source, entry)));
  }
  for (const entry of readdirSync(join(root, 'console/workspace'))) {
    parts.push(statLine(join(root, 'console/workspace', entry)));
  }
  return parts.sort().join('\n');
}

/** Tests and what they use stay out of dist/. */
function isBuilt(entry) {
  return !/\.test\.ts$|(^|\/)(testdata|testing)\//.test(entry);
}

function statLine(file) {
  const { mtimeMs, size } = statSync(file);
  return `${file.slice(root.length)} ${size} ${mtimeMs}`;
}

export async function ensureBuilt() {
  const wanted = stamp();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
  await build(wanted);
}

/** What other programs import, and what a thread of the API server runs. */
const MODULES = {
  ...Object.fromEntries(['api', 'apiserver', 'embedded', 'kube'].map((name) => [name, `src/${name}/index.ts`])),
  thread: 'src/apiserver/offload/work.ts',
};
/** What nearly every command loads. Others are loaded when needed, or bring files of their own. */
const BUNDLED = ['commander', 'picocolors', 'undici', 'ws', 'yaml'];

const COMMON = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  // A third less to read at every start; names stay, for stacks.
  minifyWhitespace: true,
  sourcemap: true,
  legalComments: 'none',
  logLevel: 'error',
};

/** Bundled code finds the files beside it (tables, the catalog) where its module would have been. */
const modulesKnowTheirPlace = {
  name: 'modules-know-their-place',
  setup(builder) {
    builder.onLoad({ filter: /[/\\\\]src[/\\\\].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const place = JSON.stringify(`./${relative(source, path)}`);
      return { contents: text.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`), loader: 'ts' };
    });
  },
};

/** The command as one script, which `src/launch.ts` starts. */
async function buildProgram(bundle, fresh) {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { metafile } = await bundle({
    ...COMMON,
    entryPoints: { rookery: 'src/main.ts' },
    entryNames: '[name]-[hash]',
    outExtension: { '.js': '.cjs' },
    outdir: fresh,
    format: 'cjs',
    external: Object.keys(dependencies).filter((name) => !BUNDLED.includes(name)),
    define: { 'import.meta.url': 'here' },
    // A script that was compiled before cannot import.
    supported: { 'dynamic-import': false },
    banner: { js: '(function (require, here) {' },
    footer: { js: '})' },
    metafile: true,
    plugins: [modulesKnowTheirPlace],
  });
  const [script] = Object.keys(metafile.outputs).filter((name) => name.endsWith('.cjs'));
  await bundle({
    ...COMMON,
    entryPoints: { main: 'src/launch.ts' },
    outdir: fresh,
    format: 'esm',
    define: { PROGRAM: JSON.stringify(basename(script, '.cjs')) },
  });
  // Where it cannot run, as without a loopback, it starts slower and does the same.
  spawnSync(process.execPath, [join(root, 'tools/compile.mjs'), join(root, script)], { stdio: 'ignore' });
}

async function build(wanted) {
  const fresh = join(root, `dist.${process.pid}`);
  try {
    rmSync(fresh, { recursive: true, force: true });
    const { build: bundle } = await import('esbuild');
    await bundle({
      ...COMMON,
      entryPoints: MODULES,
      outdir: fresh,
      splitting: true,
      format: 'esm',
      packages: 'external',
      plugins: [modulesKnowTheirPlace],
    });
    await bundle({
      absWorkingDir: root,
      entryPoints: { page: 'console/workspace/page.ts', styles: 'console/workspace/page.css' },
      outdir: join(fresh, 'http/page'),
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      legalComments: 'none',
      logLevel: 'error',
    });
    renameSync(join(fresh, 'http/page/styles.css'), join(fresh, 'http/page/page.css'));
    cpSync(join(root, 'console/workspace/index.html'), join(fresh, 'http/page/index.html'));
    for (const entry of readdirSync(source, { recursive: true })) {
      if (!/\.(json|sh)$/.test(entry) || !isBuilt(entry)) continue;
      mkdirSync(dirname(join(fresh, entry)), { recursive: true });
      cpSync(join(source, entry), join(fresh, entry));
    }
    await buildProgram(bundle, fresh);
    writeFileSync(join(fresh, '.stamp'), wanted);
    putInPlace(fresh);
  } catch (error) {
    process.stderr.write(`rookery: the build failed\n${error.message ?? error}\n`);
    process.exit(1);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** A folder cannot be replaced in one step: where another build came in between, it is tried again. */
function putInPlace(fresh) {
  const old = join(root, `dist.old.${process.pid}`);
  for (let attempts = 10; ; attempts--) {
    try {
      if (existsSync(target)) renameSync(target, old);
      return renameSync(fresh, target);
    } catch (error) {
      if (attempts === 0 || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureBuilt();
