/** A server in a process of its own that measures how long its event loop is held (see turns.child.ts). */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Http } from './http.ts';

interface Measured {
  /** Milliseconds on the processor, of the longest turn since it was last asked. */
  longest: number;
  /** Bytes: the most that the process ever had in memory. */
  peakMemory: number;
  errors: string[];
}

export class WatchedServer {
  readonly http: Http;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(http: Http, process: ChildProcess, folder: string) {
    this.http = http;
    this.#process = process;
    this.#folder = folder;
  }

  static async start(): Promise<WatchedServer> {
    const folder = mkdtempSync(join(tmpdir(), 'rookery-turns-'));
    const child = fork(join(import.meta.dirname, 'turns.child.ts'), [folder], { execArgv: ['--import', 'tsx'] });
    const [{ url, caPem, token }] = await once(child, 'message');
    return new WatchedServer(new Http(url, caPem, token), child, folder);
  }

  stop(): void {
    this.http.close();
    this.#process.disconnect();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async measured(): Promise<Measured> {
    const answer = once(this.#process, 'message');
    this.#process.send('measured');
    const [measured] = await answer;
    expect(measured.errors).toEqual([]);
    return measured;
  }

  /** Does something, and expects that no turn of the server's event loop took `limit` milliseconds meanwhile. */
  async expectShortTurns(name: string, work: () => Promise<unknown>, limit: number): Promise<void> {
    await this.measured();
    const started = performance.now();
    await work();
    const { longest } = await this.measured();
    const all = performance.now() - started;
    console.log(`${name}: longest turn ${longest.toFixed(0)} ms, ${all.toFixed(0)} ms in all`);
    expect(longest).toBeLessThan(limit);
  }
}
