// Compiles src/ into dist/ when something in src/ is newer. Safe to run twice at once: each build goes to a folder of
// its own and is moved into place whole.
import { execFile } from 'node:child_process';
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
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../', import.meta.url));
const source = join(root, 'src');
const target = join(root, 'dist');
const stampFile = join(target, '.stamp');

/** Names, sizes and times of all sources: equal stamps mean nothing to do. */
function stamp() {
  const parts = [statLine(join(root, 'package.json')), statLine(join(root, 'tsconfig.build.json'))];
  for (const entry of readdirSync(source, { recursive: true })) {
    if (/\.(ts|json)$/.test(entry) && isBuilt(entry)) parts.push(statLine(join(source, entry)));
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

async function build(wanted) {
  const fresh = join(root, `dist.${process.pid}`);
  try {
    rmSync(fresh, { recursive: true, force: true });
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
    await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', fresh], { cwd: root });
    for (const entry of readdirSync(source, { recursive: true })) {
      if (!entry.endsWith('.json') || !isBuilt(entry)) continue;
      mkdirSync(dirname(join(fresh, entry)), { recursive: true });
      cpSync(join(source, entry), join(fresh, entry));
    }
    writeFileSync(join(fresh, '.stamp'), wanted);
    const old = join(root, `dist.old.${process.pid}`);
    if (existsSync(target)) renameSync(target, old);
    renameSync(fresh, target);
    rmSync(old, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`rookery: the build failed\n${error.stdout ?? ''}${error.stderr ?? error}\n`);
    process.exit(1);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureBuilt();
