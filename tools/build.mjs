// Bundles src/ into dist/ when something in src/ is newer: a few files instead of hundreds, because loading modules one
// by one is most of what a start costs. Types are checked by `make lint`, not here. Safe to run twice at once: each
// build goes to a folder of its own and is moved into place whole.
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
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const source = join(root, 'src');
const target = join(root, 'dist');
const stampFile = join(target, '.stamp');

/** Names, sizes and times of all sources: equal stamps mean nothing to do. */
function stamp() {
  const parts = [statLine(join(root, 'package.json')), statLine(join(root, 'tools/build.mjs'))];
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

const ENTRIES = ['main', 'api', 'apiserver', 'embedded', 'kube'];

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

async function build(wanted) {
  const fresh = join(root, `dist.${process.pid}`);
  try {
    rmSync(fresh, { recursive: true, force: true });
    const { build: bundle } = await import('esbuild');
    await bundle({
      absWorkingDir: root,
      entryPoints: Object.fromEntries(
        ENTRIES.map((name) => [name, `src/${name === 'main' ? name : `${name}/index`}.ts`]),
      ),
      outdir: fresh,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20.19',
      packages: 'external',
      // A third less to read at every start; names stay, for stacks.
      minifyWhitespace: true,
      sourcemap: true,
      legalComments: 'none',
      logLevel: 'error',
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
    writeFileSync(join(fresh, '.stamp'), wanted);
    keepLoadable(fresh);
    putInPlace(fresh);
  } catch (error) {
    process.stderr.write(`rookery: the build failed\n${error.message ?? error}\n`);
    process.exit(1);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

const DAY_MS = 24 * 3600 * 1000;

/** A control plane that runs loads parts of itself when it first needs them. Their names say what is in them; those of earlier builds stay for a day. */
function keepLoadable(fresh) {
  if (!existsSync(target)) return;
  for (const name of readdirSync(target)) {
    if (!/-[A-Z0-9]{8}\.js$/.test(name) || existsSync(join(fresh, name))) continue;
    try {
      const file = join(target, name);
      if (Date.now() - statSync(file).mtimeMs < DAY_MS) cpSync(file, join(fresh, name), { preserveTimestamps: true });
    } catch (error) {
      if (error.code !== 'ENOENT') throw error; // Another build came in between.
    }
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
