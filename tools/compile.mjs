// Runs a built program until the control plane serves a first cluster, and keeps what V8 compiled on the way.
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
process.argv = [process.argv[0], filename, '--home', home, '--output', 'json', 'up', '--port', '0'];
process.env.ROOKERY_WEB_PORT = '0';

const served = new Promise((done) => {
  process.stdout.write = (text) => {
    if (String(text).includes('"running"')) done();
    return true;
  };
});
const script = new Script(readFileSync(filename, 'latin1'), { filename });
script.runInThisContext()(createRequire(filename), pathToFileURL(filename).href);
await Promise.race([served, delay(PATIENCE_MS)]);
writeFileSync(filename.replace(/cjs$/, 'compiled'), script.createCachedData());
process.exit();
