/**
 * Macros: `list.all(x, …)`, `has(a.b)` and their like become plain expressions while parsing. Which nodes they are made
 * of decides what they cost, so they follow cel-go's expansions to the letter.
 */
import type { Entry, Expr } from './ast.ts';

export const ACCUMULATOR = '@result';
const OLD_ACCUMULATOR = '__result__';

/** A macro whose arguments do not fit; `id` says which. */
export class MacroError extends Error {
  readonly id: number;

  constructor(id: number, message: string) {
    super(message);
    this.id = id;
  }
}

/** Makes nodes at the place of the macro call. */
export class Maker {
  private readonly nextId: () => number;
  private readonly copyId: (id: number) => number;

  constructor(nextId: () => number, copyId: (id: number) => number) {
    this.nextId = nextId;
    this.copyId = copyId;
  }

  literal(value: boolean | bigint): Expr {
    return { kind: 'literal', id: this.nextId(), value };
  }

  ident(name: string): Expr {
    return { kind: 'ident', id: this.nextId(), name };
  }

  accu(): Expr {
    return this.ident(ACCUMULATOR);
  }

  call(name: string, ...args: Expr[]): Expr {
    return { kind: 'call', id: this.nextId(), name, args };
  }

  member(name: string, target: Expr, ...args: Expr[]): Expr {
    return { kind: 'call', id: this.nextId(), name, target, args };
  }

  list(...elements: Expr[]): Expr {
    return { kind: 'list', id: this.nextId(), elements, optionals: [] };
  }

  map(): Expr {
    return { kind: 'map', id: this.nextId(), entries: [] };
  }

  test(operand: Expr, field: string): Expr {
    return { kind: 'select', id: this.nextId(), operand, field, test: true };
  }

  fold(range: Expr, vars: readonly [string, string?], accuVar: string, rest: [Expr, Expr, Expr, Expr]): Expr {
    const [init, condition, step, result] = rest;
    const [iterVar, iterVar2 = ''] = vars;
    return { kind: 'fold', id: this.nextId(), range, iterVar, iterVar2, accuVar, init, condition, step, result };
  }

  /** The same expression with ids of its own. */
  copy(expr: Expr): Expr {
    const id = this.copyId(expr.id);
    const all = (list: Expr[]) => list.map((each) => this.copy(each));
    switch (expr.kind) {
      case 'literal':
      case 'ident':
        return { ...expr, id };
      case 'select':
        return { ...expr, id, operand: this.copy(expr.operand) };
      case 'call': {
        const args = all(expr.args);
        return { ...expr, id, args, ...(expr.target ? { target: this.copy(expr.target) } : {}) };
      }
      case 'list':
        return { ...expr, id, elements: all(expr.elements) };
      case 'map': {
        const entries = expr.entries.map((entry): Entry => {
          const own = this.nextId();
          return { ...entry, id: own, key: this.copy(entry.key), value: this.copy(entry.value) };
        });
        return { ...expr, id, entries };
      }
      case 'struct': {
        const fields = expr.fields.map((field) => ({ ...field, id: this.nextId(), value: this.copy(field.value) }));
        return { ...expr, id, fields };
      }
      case 'fold': {
        const [range, init, condition, step, result] = all([
          expr.range,
          expr.init,
          expr.condition,
          expr.step,
          expr.result,
        ]) as [Expr, Expr, Expr, Expr, Expr];
        return { ...expr, id, range, init, condition, step, result };
      }
    }
  }
}

type Expand = (make: Maker, target: Expr, args: Expr[]) => Expr;

/** The expansion for a call, if it is a macro. */
export function macroFor(name: string, count: number, member: boolean): Expand | undefined {
  return MACROS[`${name}:${count}:${member}`];
}

const MACROS: Record<string, Expand> = {
  'has:1:false': (make, _, [field]) => {
    if (field?.kind !== 'select') throw new MacroError((field as Expr).id, 'invalid argument to has() macro');
    return make.test(field.operand, field.field);
  },
  'all:2:true': (make, target, args) => all(make, target, [variable(args[0])], args[1] as Expr),
  'exists:2:true': (make, target, args) => exists(make, target, [variable(args[0])], args[1] as Expr),
  'exists_one:2:true': (make, target, args) => existsOne(make, target, [variable(args[0])], args[1] as Expr),
  'existsOne:2:true': (make, target, args) => existsOne(make, target, [variable(args[0])], args[1] as Expr),
  'map:2:true': (make, target, args) => mapped(make, target, args),
  'map:3:true': (make, target, args) => mapped(make, target, args),
  'filter:2:true': (make, target, [name, filter]) => {
    const vars = [variable(name, 'argument is not an identifier')] as const;
    const init = make.list();
    const condition = make.literal(true);
    const added = make.call('_+_', make.accu(), make.list(name as Expr));
    const step = make.call('_?_:_', filter as Expr, added, make.accu());
    return make.fold(target, vars, ACCUMULATOR, [init, condition, step, make.accu()]);
  },
  'all:3:true': (make, target, args) => all(make, target, pair(args), args[2] as Expr),
  'exists:3:true': (make, target, args) => exists(make, target, pair(args), args[2] as Expr),
  'existsOne:3:true': (make, target, args) => existsOne(make, target, pair(args), args[2] as Expr),
  'exists_one:3:true': (make, target, args) => existsOne(make, target, pair(args), args[2] as Expr),
  'transformList:3:true': (make, target, args) => transform(make, target, args, 'list'),
  'transformList:4:true': (make, target, args) => transform(make, target, args, 'list'),
  'transformMap:3:true': (make, target, args) => transform(make, target, args, 'map'),
  'transformMap:4:true': (make, target, args) => transform(make, target, args, 'map'),
  'transformMapEntry:3:true': (make, target, args) => transform(make, target, args, 'entry'),
  'transformMapEntry:4:true': (make, target, args) => transform(make, target, args, 'entry'),
  'optMap:2:true': (make, target, args) => optional(make, target, args, 'optMap'),
  'optFlatMap:2:true': (make, target, args) => optional(make, target, args, 'optFlatMap'),
  'sortBy:2:true': sortBy,
};

function variable(arg: Expr | undefined, problem = 'argument must be a simple name'): string {
  const { id } = arg as Expr;
  if (arg?.kind !== 'ident') throw new MacroError(id, problem);
  if (arg.name === ACCUMULATOR || arg.name === OLD_ACCUMULATOR) {
    throw new MacroError(id, 'iteration variable overwrites accumulator variable');
  }
  return arg.name;
}

function pair([first, second]: Expr[]): [string, string] {
  for (const arg of [first, second]) {
    if (arg?.kind !== 'ident') throw new MacroError((arg as Expr).id, 'argument must be a simple name');
  }
  const [a, b] = [first, second] as [Expr & { name: string }, Expr & { name: string }];
  if (a.name === b.name) throw new MacroError(b.id, `duplicate variable name: ${a.name}`);
  return [variable(a), variable(b)];
}

type Vars = readonly [string, string?];

function all(make: Maker, target: Expr, vars: Vars, predicate: Expr): Expr {
  const init = make.literal(true);
  const condition = make.call('@not_strictly_false', make.accu());
  const step = make.call('_&&_', make.accu(), predicate);
  return make.fold(target, vars, ACCUMULATOR, [init, condition, step, make.accu()]);
}

function exists(make: Maker, target: Expr, vars: Vars, predicate: Expr): Expr {
  const init = make.literal(false);
  const condition = make.call('@not_strictly_false', make.call('!_', make.accu()));
  const step = make.call('_||_', make.accu(), predicate);
  return make.fold(target, vars, ACCUMULATOR, [init, condition, step, make.accu()]);
}

function existsOne(make: Maker, target: Expr, vars: Vars, predicate: Expr): Expr {
  const init = make.literal(0n);
  const condition = make.literal(true);
  const counted = make.call('_+_', make.accu(), make.literal(1n));
  const step = make.call('_?_:_', predicate, counted, make.accu());
  const result = make.call('_==_', make.accu(), make.literal(1n));
  return make.fold(target, vars, ACCUMULATOR, [init, condition, step, result]);
}

function mapped(make: Maker, target: Expr, args: Expr[]): Expr {
  const vars = [variable(args[0], 'argument is not an identifier')] as const;
  const filter = args.length === 3 ? args[1] : undefined;
  const init = make.list();
  const condition = make.literal(true);
  let step = make.call('_+_', make.accu(), make.list(args.at(-1) as Expr));
  if (filter) step = make.call('_?_:_', filter, step, make.accu());
  return make.fold(target, vars, ACCUMULATOR, [init, condition, step, make.accu()]);
}

function transform(make: Maker, target: Expr, args: Expr[], to: 'list' | 'map' | 'entry'): Expr {
  const vars = pair(args);
  const filter = args.length === 4 ? args[2] : undefined;
  const value = args.at(-1) as Expr;
  let step: Expr;
  if (to === 'list') step = make.call('_+_', make.accu(), make.list(value));
  else if (to === 'map') step = make.call('cel.@mapInsert', make.accu(), make.ident(vars[0]), value);
  else step = make.call('cel.@mapInsert', make.accu(), value);
  if (filter) step = make.call('_?_:_', filter, step, make.accu());
  const init = to === 'list' ? make.list() : make.map();
  return make.fold(target, vars, ACCUMULATOR, [init, make.literal(true), step, make.accu()]);
}

const UNUSED = '#unused';

function optional(make: Maker, target: Expr, [name, exp]: Expr[], macro: 'optMap' | 'optFlatMap'): Expr {
  if (name?.kind !== 'ident') {
    throw new MacroError((name as Expr).id, `${macro}() variable name must be a simple identifier`);
  }
  const has = make.member('hasValue', target);
  const bound = make.fold(make.list(), [UNUSED], name.name, [
    make.member('value', make.copy(target)),
    make.literal(false),
    make.ident(name.name),
    exp as Expr,
  ]);
  const found = macro === 'optMap' ? make.call('optional.of', bound) : bound;
  return make.call('_?_:_', has, found, make.call('optional.none'));
}

function sortBy(make: Maker, target: Expr, args: Expr[]): Expr {
  const input = make.ident('@__sortBy_input__');
  if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct') {
    const text = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression';
    throw new MacroError(target.id, text);
  }
  const keys = mapped(make, make.copy(input), args);
  const sorted = make.member('@sortByAssociatedKeys', make.copy(input), keys);
  return make.fold(make.list(), [UNUSED], '@__sortBy_input__', [target, make.literal(false), input, sorted]);
}
