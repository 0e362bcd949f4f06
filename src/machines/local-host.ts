/** The machine Rookery itself runs on. */
import { createReadStream } from 'node:fs';
import { chmod, mkdir, open, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Processes, RunResult } from '../tools/processes.ts';
import type { Host, ScriptOptions, UploadOptions } from './host.ts';

export class LocalHost implements Host {
  readonly identity = 'this machine';
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  run(script: string, options: ScriptOptions = {}): Promise<RunResult> {
    const { args = [], ...rest } = options;
    return this.#processes.run('/bin/sh', ['-c', script, 'rookery', ...args], rest);
  }

  async put(path: string, content: string | Buffer, mode: number): Promise<void> {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await writeFile(`${path}.new`, content, { mode });
    await chmod(`${path}.new`, mode);
    await rename(`${path}.new`, path);
  }

  async read(path: string): Promise<string | undefined> {
    try {
      return await readFile(path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async upload(file: string, path: string, { mode, onProgress, signal }: UploadOptions): Promise<void> {
    const { size } = await stat(file);
    const target = await open(path, 'a', mode);
    try {
      let written = (await target.stat()).size;
      // More than the whole is the rest of another file.
      if (written > size) {
        await target.truncate(0);
        written = 0;
      }
      if (written < size) {
        for await (const part of createReadStream(file, { start: written, highWaterMark: 1024 * 1024, signal })) {
          await target.writeFile(part as Buffer);
          written += (part as Buffer).length;
          onProgress?.(written, part as Buffer);
        }
      }
      await target.chmod(mode);
    } finally {
      await target.close();
    }
  }

  close(): void {}
}
