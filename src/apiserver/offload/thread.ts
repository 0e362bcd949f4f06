/** One thread beside the event loop, there while someone needs it: tasks one after the other, each of a bounded time. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { Authorizer } from '../auth/identity.ts';
import { timeout } from '../status.ts';
import type { Message, Packed, Task, ThreadData, Work } from './work.ts';

/** Milliseconds one task may take. The dearest that upstream's prices allow takes about two seconds. */
const TASK_MS = 30_000;
/** The thread ends when nobody needed it for so long. */
const IDLE_MS = 60_000;
/** Subjects the thread keeps, with what it made of them. */
const SUBJECTS = 16;
const MEMORY_MB = 512;

interface Waiting {
  name: keyof Work;
  subject: object;
  args: unknown[];
  authorizer?: Authorizer;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** What the thread runs, and what that was built into. */
const SOURCE = new URL('./work.ts', import.meta.url);
const BUILT = new URL('../../thread.js', import.meta.url);

/** A thread has no loader for sources, also where the main thread has one. */
function fromSource({ href }: URL): string {
  const loader = pathToFileURL(createRequire(href).resolve('tsx/esm/api').replace(/cjs$/, 'mjs')).href;
  return `import('${loader}').then(({ register }) => { register(); return import('${href}'); });`;
}

function packed(value: unknown): Packed {
  try {
    return { json: JSON.stringify(value) };
  } catch {
    return { value };
  }
}

export class Thread {
  readonly #waiting: Waiting[] = [];
  #current: Waiting | undefined;
  #worker: Worker | undefined;
  #bell = new Int32Array(new SharedArrayBuffer(4));
  #answers: MessagePort | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Oldest first. */
  #subjects = new Map<object, number>();
  #lastId = 0;

  do<N extends keyof Work>(
    name: N,
    subject: Parameters<Work[N]>[0],
    args: unknown[],
    authorizer?: Authorizer,
  ): Promise<ReturnType<Work[N]>> {
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ name, subject, args, authorizer, resolve, reject });
      if (!this.#current) this.#next();
    }) as Promise<ReturnType<Work[N]>>;
  }

  #next(): void {
    clearTimeout(this.#timer);
    this.#current = this.#waiting.shift();
    if (!this.#current) {
      this.#timer = setTimeout(() => this.#end(), IDLE_MS).unref();
      return;
    }
    this.#timer = setTimeout(() => this.#giveUp(), TASK_MS);
    try {
      this.#hand(this.#current);
    } catch (error) {
      this.#settle((task) => task.reject(error));
    }
  }

  #hand({ name, subject, args }: Waiting): void {
    const worker = this.#worker ?? this.#start();
    const known = this.#subjects.get(subject);
    const id = known ?? ++this.#lastId;
    const [oldest] = this.#subjects;
    const dropped = known === undefined && this.#subjects.size === SUBJECTS ? oldest : undefined;
    const sent = known === undefined ? { id, value: packed(subject) } : { id };
    worker.postMessage({ name, subject: sent, dropped: dropped?.[1], args: packed(args) } satisfies Task);
    if (dropped) this.#subjects.delete(dropped[0]);
    this.#subjects.delete(subject);
    this.#subjects.set(subject, id);
  }

  #start(): Worker {
    const { port1, port2 } = new MessageChannel();
    const isSource = existsSync(SOURCE);
    const worker = new Worker(isSource ? fromSource(SOURCE) : BUILT, {
      eval: isSource,
      workerData: { isOffload: true, bell: this.#bell, answers: port2 } satisfies ThreadData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    worker.on('message', (message: Message) => this.#heard(message));
    worker.on('error', (error) => {
      if (this.#worker !== worker) return;
      this.#end();
      this.#settle((task) => task.reject(error));
    });
    // Listeners come before: who listens for messages keeps the process.
    worker.unref();
    port1.unref();
    this.#answers = port1;
    this.#worker = worker;
    return worker;
  }

  #heard(message: Message): void {
    switch (message.about) {
      case 'result':
        return this.#settle((task) => task.resolve(message.result));
      case 'problem':
        return this.#settle((task) => task.reject(new Error(message.message)));
      case 'question':
        this.#answers?.postMessage(this.#current?.authorizer?.authorize(...message.question));
        Atomics.store(this.#bell, 0, 1);
        Atomics.notify(this.#bell, 0);
    }
  }

  #settle(how: (task: Waiting) => void): void {
    const task = this.#current;
    this.#current = undefined;
    if (task) how(task);
    this.#next();
  }

  #giveUp(): void {
    this.#end();
    this.#settle((task) => task.reject(timeout('Timeout: request did not complete within the allotted timeout')));
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#subjects = new Map();
    this.#bell = new Int32Array(new SharedArrayBuffer(4));
    this.#answers?.close();
    this.#answers = undefined;
    worker?.terminate().catch(() => undefined);
  }
}
