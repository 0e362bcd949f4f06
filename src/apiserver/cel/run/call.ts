/** Calls of functions: which implementation, on which values, at what price. */
import { chargeWork } from '../../allowance.ts';
import type { FunctionDeclaration, Implementation, Overload } from '../check/declarations.ts';
import type { Type } from '../check/type.ts';
import { type CallCost, callCost, costAhead, FLAT, isPaidAhead } from '../cost/call-cost.ts';
import {
  CelError,
  Duration,
  Items,
  List,
  MapValue,
  NO_OVERLOAD,
  Timestamp,
  typeName,
  type Value,
} from '../values/value.ts';
import type { Frame } from './frame.ts';
import { afford, charge, step, stepOver } from './meter.ts';
import type { Node } from './plan.ts';

type Run = (args: readonly Value[]) => Value;

/** `overload` is empty where only the values tell which one is meant; `pattern`: a pattern is compiled already. */
export function planCall(
  declared: FunctionDeclaration,
  overload: string,
  args: readonly Node[],
  pattern: boolean,
): Node {
  const run = pattern ? patternCall(declared, overload) : implementation(declared, overload);
  const call: PlannedCall = {
    run,
    price: callCost(declared.name, overload),
    overload,
    ahead: isPaidAhead(overload),
    strict: !declared.nonStrict,
  };
  if (pattern || args.length > 2 || args.length === 0 || isVariadic(declared, overload)) return oneByOne(call, args);
  return args.length === 1 ? unary(call, args[0] as Node) : binary(call, args[0] as Node, args[1] as Node);
}

interface PlannedCall {
  run: Run;
  price: CallCost;
  overload: string;
  /** The work may be more than the budget has left: that is found out before it is done. */
  ahead: boolean;
  strict: boolean;
}

/** Texts of up to this length are no work. */
const SHORT = 256;
/** What a function may do with one character, in units of work: to find all matches of a pattern takes a microsecond. */
const CHARACTER = 4;

function finish({ run, price, overload, ahead }: PlannedCall, values: readonly Value[]): Value {
  if (ahead) afford(costAhead(overload, values));
  for (const value of values) {
    if (typeof value === 'string' && value.length > SHORT) chargeWork(value.length * CHARACTER);
  }
  const result = run(values);
  if (typeof result === 'string') stepOver(result.length);
  else if (result instanceof Items) step(result.size);
  charge(price === FLAT ? 1 : price(values, result, overload));
  return result;
}

function unary(call: PlannedCall, arg: Node): Node {
  return {
    eval(frame) {
      const value = arg.eval(frame);
      if (!(call.strict && value instanceof CelError)) return finish(call, [value]);
      charge(call.price([value], value, call.overload));
      return value;
    },
  };
}

/** Both sides are evaluated, also where the first is an error: upstream charges for both. */
function binary(call: PlannedCall, left: Node, right: Node): Node {
  return {
    eval(frame) {
      const a = left.eval(frame);
      const b = right.eval(frame);
      if (!(a instanceof CelError || b instanceof CelError) || !call.strict) return finish(call, [a, b]);
      const broken = a instanceof CelError ? a : b;
      charge(call.price([a, b], broken, call.overload));
      return broken;
    },
  };
}

function oneByOne(call: PlannedCall, args: readonly Node[]): Node {
  return {
    eval(frame: Frame) {
      const values: Value[] = [];
      for (let i = 0; i < args.length; i++) {
        const value = (args[i] as Node).eval(frame);
        values.push(value);
        if (!(value instanceof CelError)) continue;
        // The price of a call is known when all its arguments are.
        if (i === args.length - 1) charge(call.price(values, value, call.overload));
        return value;
      }
      return finish(call, values);
    },
  };
}

/** For literals, before there is a plan. */
export function invoke(declared: FunctionDeclaration, overload: string, values: readonly Value[]): Value {
  return implementation(declared, overload)(values);
}

function isVariadic(declared: FunctionDeclaration, id: string): boolean {
  if (declared.run) return false;
  const bound = declared.overloads.filter((overload) => overload.run);
  const overload = bound.find((each) => each.id === id) ?? (bound.length === 1 ? bound[0] : undefined);
  return overload === undefined || overload.variadic;
}

function implementation(declared: FunctionDeclaration, id: string): Run {
  const { name, run, takes, unguarded, overloads } = declared;
  if (run) {
    return (values) => {
      const first = values[0] as Value;
      if (!takes || takes(first)) return call(run, values);
      // Values with methods of their own are asked, and know none of this name.
      const asked = typeof first === 'string' || first instanceof Timestamp || first instanceof Duration;
      return asked ? NO_OVERLOAD : new CelError(`no such overload: ${name}`);
    };
  }
  const bound = overloads.filter((overload) => overload.run);
  const known = bound.find((overload) => overload.id === id) ?? (bound.length === 1 ? bound[0] : undefined);
  const candidates = known ? [known] : bound;
  return (values) => {
    for (const overload of candidates) {
      if (accepts(overload, values, unguarded ?? false)) return call(overload.run as Implementation, values);
    }
    return noSuchOverload(name, values);
  };
}

/** A literal pattern makes a call that takes any values and complains by itself. */
function patternCall(declared: FunctionDeclaration, overload: string): Run {
  const run = implementation(declared, overload);
  return (values) => {
    if (typeof values[0] !== 'string') return NO_OVERLOAD;
    return values.length === 3 && typeof values[2] !== 'bigint' ? NO_OVERLOAD : run(values);
  };
}

function call(run: Implementation, values: readonly Value[]): Value {
  return (run as (...args: readonly Value[]) => Value)(...values);
}

function accepts({ args }: Overload, values: readonly Value[], unguarded: boolean): boolean {
  if (args.length !== values.length) return false;
  return unguarded || args.every((type, i) => isOf(values[i] as Value, type));
}

/** Of containers, the first element is looked at. */
function isOf(value: Value, type: Type): boolean {
  if (type.kind === 'dyn' || type.kind === 'param') return true;
  if (typeName(value) !== type.name) return false;
  if (value instanceof List) return value.size === 0 || isOf(value.at(0), type.params[0] as Type);
  if (!(value instanceof MapValue)) return true;
  for (const key of value.keys()) {
    return isOf(key, type.params[0] as Type) && isOf(value.find(key) as Value, type.params[1] as Type);
  }
  return true;
}

function noSuchOverload(name: string, values: readonly Value[]): Value {
  const broken = values.find((value) => value instanceof CelError);
  return broken ?? new CelError(`no such overload: ${name}(${values.map(typeName).join(', ')})`);
}
