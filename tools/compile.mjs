// Runs a built program until the control plane serves and a command has asked it; keeps what V8 compiled on the way.
//   node tools/compile.mjs dist/rookery-XXXXXXXX.cjs
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Script } from 'node:vm';

const PATIENCE_MS = 20_000;
const filename = resolve(process.argv[2]);
const home = mkdtempSync(join(tmpdir(), 'rookery-compile-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
process.env.ROOKERY_WEB_PORT = '0';

const script = new Script(readFileSync(filename, 'latin1'), { filename });
const start = script.runInThisContext();
await Promise.race([used(), delay(PATIENCE_MS)]);
writeFileSync(filename.replace(/cjs$/, 'compiled'), script.createCachedData());
process.exit();

/** No cluster is made: what a start does not need makes it slower. */
async function used() {
  await says('"running"', 'up', '--no-demo', '--port', '0');
  await says('[', 'cluster', 'list');
}

function says(text, ...command) {
  process.argv = [process.argv[0], filename, '--home', home, '--output', 'json', ...command];
  return new Promise((done) => {
    process.stdout.write = (said) => {
      if (String(said).includes(text)) done();
      return true;
    };
    start(createRequire(filename), pathToFileURL(filename).href);
  });
}
