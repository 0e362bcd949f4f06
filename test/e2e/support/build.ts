// Before a suite: the product is what its sources say. Suites run it as it is built; from source, every command takes seconds.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export default function build(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../../tools/build.mjs', import.meta.url))]);
}
