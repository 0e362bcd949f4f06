/** The work that the worker thread can do, and the loop it runs: one task after the other. */
import { isMainThread, type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { KubeObject } from '../../api/object.ts';
import { type Evaluation, Evaluator } from '../admission/policy/evaluator.ts';
import type { PolicySpec } from '../admission/policy/policy.ts';
import { type ExpressionWarning, type TypedKinds, typeWarnings } from '../admission/policy/type-checking.ts';
import { type ConditionSources, MatchConditions } from '../admission/webhook/match-conditions.ts';
import { limitHeap } from '../allowance.ts';
import type { Authorizer, Decision } from '../auth/identity.ts';
import { strategyOf } from '../builtins/index.ts';
import type { Admission } from '../cel/admission-environment.ts';
import { jsonProblem } from '../codec/json-problem.ts';
import { readYaml, type YamlRead } from '../codec/yaml.ts';
import type { CrdColumn, CrdSubresources } from '../crd/crd.ts';
import { type CustomErrors, customErrors } from '../crd/custom-validation.ts';
import { cellsOf } from '../crd/printer.ts';
import type { Schema } from '../schema/schema.ts';
import { ApiError, type FieldError, type StatusDetails } from '../status.ts';
import { toTheEnd } from '../turns.ts';

/** Each has what it works with from the message, and may ask the main thread who is allowed what. */
const WORK = {
  custom(schema: Schema, object: KubeObject, old: KubeObject | undefined, scale: CrdSubresources['scale']) {
    return toTheEnd(customErrors(object, old, schema, scale)) satisfies CustomErrors;
  },
  strategy(_: object, group: string, kind: string, object: KubeObject, live?: KubeObject): FieldError[] {
    const strategy = strategyOf(group, kind);
    return (live ? strategy.validateUpdate?.(object, live) : strategy.validate?.(object)) ?? [];
  },
  policy(spec: PolicySpec, admission: Admission): Evaluation {
    return toTheEnd(compiled(spec, () => new Evaluator(spec)).evaluate({ ...admission, authorizer }));
  },
  conditions(sources: ConditionSources, variables: Admission): boolean {
    return compiled(sources, () => new MatchConditions(sources)).hold({ ...variables, authorizer });
  },
  cells(columns: CrdColumn[], object: KubeObject, now: number): unknown[] {
    return compiled(columns, () => cellsOf(columns))(object, now);
  },
  async yaml(_: object, text: string, depth: number): Promise<YamlRead> {
    return readYaml(await import('yaml'), text, depth);
  },
  async protobuf(_: object, body: Uint8Array): Promise<string> {
    const { decodeProtobuf } = await import('../codec/protobuf.ts');
    return JSON.stringify(decodeProtobuf(Buffer.from(body.buffer, body.byteOffset, body.byteLength)));
  },
  /** What is wrong with a text that is no JSON. */
  jsonProblem(_: object, text: string): string {
    try {
      JSON.parse(text);
      return '';
    } catch (error) {
      return jsonProblem(text, error as Error);
    }
  },
  types(_: object, spec: PolicySpec, kinds: TypedKinds): ExpressionWarning[] {
    return toTheEnd(typeWarnings(spec, kinds));
  },
};

export type Work = typeof WORK;

/** Bytes of the thread's heap that one task may fill. Well below what the thread has: where that is full, the process ends. */
const HEAP_LIMIT = 320 * 1024 * 1024;

const programs = new WeakMap<object, unknown>();

function compiled<T>(source: object, compile: () => T): T {
  if (!programs.has(source)) programs.set(source, compile());
  return programs.get(source) as T;
}

export interface Task {
  name: keyof Work;
  /** What the work is done with again and again is sent once, and compiled once. */
  subject: { id: number; value?: Packed };
  /** A subject that makes room for this one. */
  dropped?: number;
  args: Packed;
}

/** JSON is packed and sent faster than objects are; what refers to itself has none. */
export type Packed = { json: string } | { value: unknown };

function unpacked(packed: Packed): unknown {
  return 'json' in packed ? JSON.parse(packed.json) : packed.value;
}

/** From the thread to whoever gave it the task. */
export type Message =
  | { about: 'result'; result: unknown }
  | { about: 'problem'; problem: Problem }
  | { about: 'question'; question: Parameters<Authorizer['authorize']> };

/** An error, to be thrown again by the main thread. */
export interface Problem {
  message: string;
  /** Of an ApiError. */
  status?: { code: number; reason: string; details?: StatusDetails };
  isType?: boolean;
}

function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) {
    const { message, code, reason, details } = error;
    return { message, status: { code, reason, details } };
  }
  return {
    message: error instanceof Error ? error.message : String(error),
    isType: error instanceof TypeError,
  };
}

export interface ThreadData {
  isOffload: true;
  /** One where the answer to a question is there. */
  bell: Int32Array;
  answers: MessagePort;
}

/** Asks the main thread, and waits for its answer: work on the worker thread is synchronous. */
const authorizer: Authorizer = {
  authorize(...question) {
    const { bell, answers } = workerData as ThreadData;
    say({ about: 'question', question });
    Atomics.wait(bell, 0, 0);
    Atomics.store(bell, 0, 0);
    return receiveMessageOnPort(answers)?.message as Decision;
  },
};

function say(message: Message): void {
  parentPort?.postMessage(message);
}

function serve(): void {
  limitHeap(HEAP_LIMIT);
  const subjects = new Map<number, object>();
  parentPort?.on('message', async ({ name, subject, dropped, args }: Task) => {
    if (dropped !== undefined) subjects.delete(dropped);
    try {
      if (subject.value) subjects.set(subject.id, unpacked(subject.value) as object);
      const work = WORK[name] as (subject: object | undefined, ...args: unknown[]) => unknown;
      say({ about: 'result', result: await work(subjects.get(subject.id), ...(unpacked(args) as unknown[])) });
    } catch (error) {
      say({ about: 'problem', problem: problemOf(error) });
    }
  });
}

if (!isMainThread && (workerData as ThreadData | null)?.isOffload) serve();
