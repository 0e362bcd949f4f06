/** The work that the worker thread can do, and the loop it runs: one task after the other. */
import { isMainThread, type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { KubeObject } from '../../api/object.ts';
import { type Evaluation, Evaluator } from '../admission/policy/evaluator.ts';
import type { PolicySpec } from '../admission/policy/policy.ts';
import { type ExpressionWarning, type TypedKinds, typeWarnings } from '../admission/policy/type-checking.ts';
import { type ConditionSources, MatchConditions } from '../admission/webhook/match-conditions.ts';
import { limitHeap } from '../allowance.ts';
import { type ApplyRequest, applyConfiguration, checkConfiguration } from '../apply/apply-configuration.ts';
import { recordUpdate, type UpdateRequest } from '../apply/record-update.ts';
import { lookupIn, MissingConversion, type VersionTerms } from '../apply/version-terms.ts';
import type { Authorizer, Decision } from '../auth/identity.ts';
import { strategyOf } from '../builtins/index.ts';
import type { Admission } from '../cel/admission-environment.ts';
import { jsonProblem } from '../codec/json-problem.ts';
import { readYaml, type YamlRead } from '../codec/yaml.ts';
import type { CrdColumn, CrdSubresources } from '../crd/crd.ts';
import { type CustomErrors, customErrors } from '../crd/custom-validation.ts';
import { cellsOf } from '../crd/printer.ts';
import { definitionOfKind } from '../kinds/component-name.ts';
import { definition } from '../kinds/definition.ts';
import { type PatchType, patched } from '../patch/patched.ts';
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
  record(schema: Schema, name: SchemaName | undefined, request: UpdateTerms, terms?: VersionTerms) {
    return recordUpdate({ ...request, schema: schemaOf(schema, name), versions: terms && lookupIn(terms) });
  },
  apply(schema: Schema, name: SchemaName | undefined, request: ApplyTerms, terms?: VersionTerms) {
    return applyConfiguration({ ...request, schema: schemaOf(schema, name), versions: terms && lookupIn(terms) });
  },
  checkConfiguration(schema: Schema, name: SchemaName | undefined, config: KubeObject): void {
    checkConfiguration(config, schemaOf(schema, name));
  },
  patch(schema: Schema, name: SchemaName | undefined, type: PatchType, live: KubeObject, patch: unknown): KubeObject {
    return patched(type, live, patch, schemaOf(schema, name));
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
type UpdateTerms = Omit<UpdateRequest, 'schema' | 'versions'>;
type ApplyTerms = Omit<ApplyRequest, 'schema' | 'versions'>;

/** A built-in kind. */
export interface SchemaName {
  group: string;
  version: string;
  kind: string;
}

function schemaOf(custom: Schema, name: SchemaName | undefined): Schema {
  if (!name) return custom;
  return definition(definitionOfKind(name.group, name.version, name.kind) as string);
}

/** Work whose results may be large objects: they are sent as text, which the main thread reads in pieces. */
const LARGE_RESULTS = new Set<keyof Work>(['record', 'apply', 'patch']);

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

/** From the worker thread to the main thread. */
export type Message =
  | { about: 'result'; result: Packed }
  | { about: 'problem'; problem: Problem }
  | { about: 'question'; question: Parameters<Authorizer['authorize']> };

/** An error, to be thrown again by the main thread. */
export interface Problem {
  message: string;
  /** Of an ApiError. */
  status?: { code: number; reason: string; details?: StatusDetails };
  isType?: boolean;
  missing?: { apiVersion: string; object: KubeObject };
}

function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) {
    const { message, code, reason, details } = error;
    return { message, status: { code, reason, details } };
  }
  return {
    message: error instanceof Error ? error.message : String(error),
    isType: error instanceof TypeError,
    ...(error instanceof MissingConversion ? { missing: { apiVersion: error.apiVersion, object: error.object } } : {}),
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
      const value = await work(subjects.get(subject.id), ...(unpacked(args) as unknown[]));
      const json = LARGE_RESULTS.has(name) ? JSON.stringify(value) : undefined;
      say({ about: 'result', result: json === undefined ? { value } : { json } });
    } catch (error) {
      say({ about: 'problem', problem: problemOf(error) });
    }
  });
}

if (!isMainThread && (workerData as ThreadData | null)?.isOffload) serve();
