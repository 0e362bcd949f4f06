/**
 * What the built `rookery` starts with: the whole program is one script, and what V8 made of it when it was built lies beside it.
 * Loading it as modules and compiling it was half of a start. Another version of Node compiles it again.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';

/** The build names them by what is in them: the compiled form of another script would be taken for this one's. */
declare const PROGRAM: string;

const filename = fileURLToPath(new URL(`./${PROGRAM}.cjs`, import.meta.url));
const script = new Script(readFileSync(filename, 'latin1'), {
  filename,
  cachedData: compiled(fileURLToPath(new URL(`./${PROGRAM}.compiled`, import.meta.url))),
});
script.runInThisContext()(createRequire(filename), pathToFileURL(filename).href);

function compiled(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
