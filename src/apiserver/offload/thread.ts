/** One worker thread beside the event loop, there while it is needed: one task at a time. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { MissingConversion } from '../apply/version-terms.ts';
import type { Authorizer } from '../auth/identity.ts';
import { jsonInPieces } from '../codec/json-pieces.ts';
import { jsonTextInPieces } from '../codec/json-text.ts';
import { ApiError } from '../status.ts';
import { inTurns, isLarge } from '../turns.ts';
import type { Message, Packed, Problem, Task, ThreadData, Work } from './work.ts';

/** Milliseconds after which a thread that has nothing to do ends. */
const IDLE_MS = 60_000;
/** Subjects the thread keeps, with what it made of them. */
const SUBJECTS = 16;
/** Megabytes of the thread's heap. Work is refused long before it is full (see work.ts): that would end the process. */
const MEMORY_MB = 640;
/** Of results; they are made of what was read with a limit. */
const DEPTH = 1000;

export interface Job {
  name: keyof Work;
  subject: object;
  args: unknown[];
  authorizer?: Authorizer;
  /** Called when the thread begins. */
  started?(): void;
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

/** JSON is made and sent faster than copies of objects are; bytes and text need neither. */
async function packed(value: unknown): Promise<Packed> {
  if (Array.isArray(value) && value.every((part) => typeof part === 'string' || part instanceof Uint8Array)) {
    return { value };
  }
  try {
    return { json: await inTurns(jsonTextInPieces(value)) };
  } catch {
    return { value };
  }
}

export class Thread {
  #job: Job | undefined;
  #done: (() => void) | undefined;
  #worker: Worker | undefined;
  #bell = new Int32Array(new SharedArrayBuffer(4));
  #answers: MessagePort | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Oldest first. */
  #subjects = new Map<object, number>();
  #lastId = 0;

  get isBusy(): boolean {
    return this.#job !== undefined;
  }

  /** Settles the job, then calls `done`. */
  run(job: Job, done: () => void): void {
    clearTimeout(this.#idle);
    this.#job = job;
    this.#done = done;
    job.started?.();
    this.#hand(job).catch((error: unknown) => {
      if (this.#job === job) this.#settle(() => job.reject(error));
    });
  }

  /** Ends the work at once, and the thread with it: nothing else stops synchronous work. The next job starts another one. */
  cancel(job: Job): void {
    if (this.#job !== job) return;
    this.#end();
    this.#settle(() => {});
  }

  async #hand(job: Job): Promise<void> {
    const { name, subject } = job;
    const args = await packed(job.args);
    const value = this.#subjects.has(subject) ? undefined : await packed(subject);
    // Meanwhile it may have been cancelled.
    if (this.#job === job) this.#send(name, subject, value, args);
  }

  #send(name: keyof Work, subject: object, value: Packed | undefined, args: Packed): void {
    const worker = this.#worker ?? this.#start();
    const known = this.#subjects.get(subject);
    const id = known ?? ++this.#lastId;
    const [oldest] = this.#subjects;
    const dropped = known === undefined && this.#subjects.size === SUBJECTS ? oldest : undefined;
    const sent = known === undefined ? { id, value } : { id };
    worker.postMessage({ name, subject: sent, dropped: dropped?.[1], args } satisfies Task);
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
    worker.on('message', (message: Message) => {
      if (this.#worker === worker) this.#heard(message);
    });
    worker.on('error', (error) => {
      if (this.#worker !== worker) return;
      this.#end();
      this.#settle((job) => job.reject(error));
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
        return this.#settle((job) => job.resolve(unpacked(message.result)));
      case 'problem':
        return this.#settle((job) => job.reject(errorOf(message.problem)));
      case 'question':
        return this.#answer(message.question);
    }
  }

  #answer(question: Parameters<Authorizer['authorize']>): void {
    const worker = this.#worker;
    const decision = this.#job?.authorizer?.authorize(...question);
    // Meanwhile the work may have been cancelled: another thread must not get this answer.
    if (this.#worker !== worker) return;
    this.#answers?.postMessage(decision);
    Atomics.store(this.#bell, 0, 1);
    Atomics.notify(this.#bell, 0);
  }

  #settle(how: (job: Job) => void): void {
    const job = this.#job;
    const done = this.#done;
    this.#job = undefined;
    this.#done = undefined;
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    if (job) how(job);
    done?.();
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

function unpacked(result: Packed): unknown {
  if ('value' in result) return result.value;
  return isLarge(result.json.length)
    ? inTurns(jsonInPieces(result.json, DEPTH)).then(({ value }) => value)
    : JSON.parse(result.json);
}

function errorOf({ message, status, isType, missing }: Problem): Error {
  if (missing) return new MissingConversion(missing.apiVersion, missing.object);
  if (status) return new ApiError(status.code, status.reason, message, status.details);
  return isType ? new TypeError(message) : new Error(message);
}
