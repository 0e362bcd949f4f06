/** Macros cel-js does not have: two-variable comprehensions, `optMap` and `optFlatMap`. */
import type { Library } from '../engine.ts';
import type { CelNode } from '../meter.ts';

interface Type {
  kind: string;
  keyType?: Type;
  valueType?: Type;
}

interface Checker {
  check(node: unknown, context: Context): Type;
  getType(name: string): Type;
  dynType: Type;
  registry: {
    getListType(type: Type): Type;
    getMapType(key: Type, value: Type): Type;
    getOptionalType(type: Type): Type;
  };
  createError(code: string, message: string, node: unknown): Error;
}

interface Context {
  forkWithVariable(name: string, type: Type): Context;
  reuse(parent: Context): Context;
  setIterValue(value: unknown, ev: unknown): Context;
}

interface Evaluator {
  run(node: unknown, context: Context): unknown;
}

interface Call {
  args: CelNode[];
  receiver: CelNode;
  ast: { setMeta(key: string, value: unknown): void };
}

/** A loop over keys (or indexes) and values; the estimate of costs knows these fields. */
interface Loop {
  receiver: CelNode;
  key: string;
  value: string;
  filter?: CelNode;
  exp: CelNode;
  contexts?: [Context, Context];
}

type Collect = (keys: unknown[], results: unknown[]) => unknown;
type ResultType = (checker: Checker, key: Type, exp: Type) => Type;

export function registerMacros(library: Library): void {
  const bool: ResultType = (checker) => checker.getType('bool');
  const list: ResultType = (checker, _, exp) => checker.registry.getListType(exp);
  const map: ResultType = (checker, key, exp) => checker.registry.getMapType(key, exp);
  const toMap: Collect = (keys, results) => new Map(keys.map((key, i) => [key, results[i]]));
  loop(
    library,
    'all',
    3,
    bool,
    (_, results) => results.every((r) => r === true),
    (r) => r === false,
  );
  loop(
    library,
    'exists',
    3,
    bool,
    (_, results) => results.some((r) => r === true),
    (r) => r === true,
  );
  loop(library, 'existsOne', 3, bool, (_, results) => results.filter((r) => r === true).length === 1);
  for (const size of [3, 4]) {
    loop(library, 'transformList', size, list, (_, results) => results);
    loop(library, 'transformMap', size, map, toMap);
  }
  const { Optional } = library.cel;
  optional(
    library,
    'optMap',
    (result) => Optional.of(result),
    (checker, type) => checker.registry.getOptionalType(type),
  );
  optional(
    library,
    'optFlatMap',
    (result) => result,
    (_, type) => type,
  );
}

function identifier(library: Library, node: CelNode): string {
  return node.op === 'id' ? (node.args as string) : library.fail('argument must be a simple name');
}

function loop(
  library: Library,
  name: string,
  size: number,
  type: ResultType,
  collect: Collect,
  stop?: (r: unknown) => boolean,
): void {
  const params = Array(size).fill('ast').join(', ');
  library.environment.registerFunction(`list.${name}(${params}): dyn`, (({ args, receiver, ast }: Call) => {
    ast.setMeta('async', false);
    const macro: Loop & Record<string, unknown> = {
      receiver,
      key: identifier(library, args[0] as CelNode),
      value: identifier(library, args[1] as CelNode),
      filter: size === 4 ? args[2] : undefined,
      exp: args.at(-1) as CelNode,
      typeCheck(checker: Checker, m: Loop, context: Context) {
        const range = checker.check(m.receiver, context);
        const key = range.kind === 'list' ? checker.getType('int') : (range.keyType ?? checker.dynType);
        const outer = context.forkWithVariable(m.key, key);
        const inner = outer.forkWithVariable(m.value, range.valueType ?? checker.dynType);
        m.contexts = [outer, inner];
        if (m.filter) checker.check(m.filter, inner);
        return type(checker, key, checker.check(m.exp, inner));
      },
      evaluate(ev: Evaluator, m: Loop, context: Context) {
        const [outer, inner] = m.contexts as [Context, Context];
        const keys: unknown[] = [];
        const results: unknown[] = [];
        for (const [key, value] of pairs(ev.run(m.receiver, context))) {
          const scope = inner.reuse(outer.reuse(context).setIterValue(key, ev)).setIterValue(value, ev);
          if (m.filter && ev.run(m.filter, scope) !== true) continue;
          const result = ev.run(m.exp, scope);
          keys.push(key);
          results.push(result);
          if (stop?.(result)) break;
        }
        return collect(keys, results);
      },
    };
    return macro;
  }) as never);
}

function* pairs(value: unknown): Iterable<[unknown, unknown]> {
  if (Array.isArray(value) || value instanceof Set) {
    let index = 0n;
    for (const item of value) yield [index++, item];
  } else if (value instanceof Map) yield* value;
  else yield* Object.entries(value as object);
}

function optional(
  library: Library,
  name: string,
  wrap: (result: unknown) => unknown,
  type: (checker: Checker, exp: Type) => Type,
): void {
  library.environment.registerFunction(`optional.${name}(ast, ast): optional<dyn>`, (({
    args,
    receiver,
    ast,
  }: Call) => {
    ast.setMeta('async', false);
    let scope: Context | undefined;
    const [variable, exp] = args as [CelNode, CelNode];
    return {
      receiver,
      exp,
      typeCheck(checker: Checker, _: unknown, context: Context) {
        const from = checker.check(receiver, context);
        scope = context.forkWithVariable(identifier(library, variable), from.valueType ?? checker.dynType);
        return type(checker, checker.check(exp, scope));
      },
      evaluate(ev: Evaluator, _: unknown, context: Context) {
        const value = ev.run(receiver, context) as { hasValue(): boolean; value(): unknown };
        if (!value.hasValue()) return value;
        return wrap(ev.run(exp, (scope as Context).reuse(context).setIterValue(value.value(), ev)));
      },
    };
  }) as never);
}
