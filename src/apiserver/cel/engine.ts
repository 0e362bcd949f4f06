/**
 * The CEL engine with Kubernetes' libraries. cel-js is loaded when the first rule needs it, not before: most clusters
 * have no rules, and validation is synchronous, so the load has to be too.
 */
import { createRequire } from 'node:module';
import type * as CelJs from '@marcbachmann/cel-js';
import type * as Evaluator from '@marcbachmann/cel-js/evaluator';
import { registerFormat } from './library/format.ts';
import { registerLists } from './library/lists.ts';
import { registerMacros } from './library/macros.ts';
import { registerNet } from './library/net.ts';
import { registerQuantity } from './library/quantity.ts';
import { registerRegex } from './library/regex.ts';
import { registerSemver } from './library/semver.ts';
import { registerStrings } from './library/strings.ts';
import { registerUrl } from './library/url.ts';

export type Environment = CelJs.Environment;
export type Cel = typeof CelJs & Pick<typeof Evaluator, 'Duration'>;

/** Longer expressions do not occur in practice; parsing and checking are not covered by the cost budget. */
const LIMITS = { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 };

const SYNC = { async: false };

/** Adds functions to an environment, always synchronous ones. */
export class Library {
  readonly environment: Environment;
  readonly cel: Cel;

  constructor(environment: Environment, cel: Cel) {
    this.environment = environment;
    this.cel = cel;
  }

  // biome-ignore lint/suspicious/noExplicitAny: handlers take the CEL values their signature names
  add(signature: string, handler: (...args: any[]) => unknown): this {
    this.environment.registerFunction(signature, handler, SYNC as never);
    return this;
  }

  /** A name like `sets` whose functions are called as `sets.contains(…)`. */
  namespace(name: string, functions: Record<string, (...args: never[]) => unknown>): this {
    const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Namespace`;
    const Namespace = { [type]: class {} }[type] as new () => object;
    this.environment.registerType(type, Namespace as never);
    this.environment.registerConstant(name, type, new Namespace() as never);
    for (const [signature, handler] of Object.entries(functions)) {
      this.add(`${type}.${signature}`, (_self: unknown, ...args: never[]) => handler(...args));
    }
    return this;
  }

  /** An evaluation error; becomes `<text> evaluating rule: …`. */
  fail(message: string): never {
    throw new this.cel.EvaluationError(message);
  }
}

let loaded: { cel: Cel; base: Environment } | undefined;

export function engine(): { cel: Cel; base: Environment } {
  if (loaded === undefined) {
    const require = createRequire(import.meta.url);
    const cel: Cel = {
      ...(require('@marcbachmann/cel-js') as typeof CelJs),
      Duration: (require('@marcbachmann/cel-js/evaluator') as typeof Evaluator).Duration,
    };
    const base = new cel.Environment({
      enableOptionalTypes: true,
      homogeneousAggregateLiterals: false,
      unlistedVariablesAreDyn: false,
      limits: LIMITS,
    });
    const library = new Library(base, cel);
    registerMacros(library);
    registerStrings(library);
    registerRegex(library);
    registerLists(library);
    registerUrl(library);
    registerQuantity(library);
    registerNet(library);
    registerFormat(library);
    registerSemver(library);
    loaded = { cel, base };
  }
  return loaded;
}

/** True once cel-js is in memory; for the test that keeps it lazy. */
export function isLoaded(): boolean {
  return loaded !== undefined;
}
