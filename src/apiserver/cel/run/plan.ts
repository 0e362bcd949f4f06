/** Checked expressions as functions. The shape of the plan is cel-go's, for it decides what running costs. */
import { chargeWork } from '../../allowance.ts';
import { compilePattern } from '../../schema/pattern.ts';
import type { Checked } from '../check/checker.ts';
import type { FunctionDeclaration } from '../check/declarations.ts';
import type { Environment } from '../check/environment.ts';
import { callCost } from '../cost/call-cost.ts';
import type { Call, Expr, Fold, ListLiteral, MapLiteral, Select } from '../syntax/ast.ts';
import { goType, show } from '../values/show.ts';
import {
  CelError,
  Duration,
  Entries,
  equal,
  Growing,
  Items,
  List,
  MapValue,
  NO_OVERLOAD,
  Optional,
  Timestamp,
  type Value,
} from '../values/value.ts';
import { type Attribute, Choice, type Qualifier, Reference } from './attribute.ts';
import { invoke, planCall } from './call.ts';
import type { Frame } from './frame.ts';
import { charge, startMeter } from './meter.ts';

/** Planning one part of an expression, in units of work. */
const PART = 10;

export interface Node {
  eval(frame: Frame): Value;
  /** Known before anything runs. */
  constant?: { value: Value };
  attribute?: Attribute;
}

/** Problems met while planning: conversions of literals that cannot be, broken patterns. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
}

interface Scope {
  accuVar: string;
  iterVar: string;
  iterVar2: string;
  /** In the result of a loop its variables are gone. */
  inResult: boolean;
  outer: Scope | undefined;
}

const CONVERSIONS = new Set('bool bytes double duration dyn int string timestamp type uint'.split(' '));

export function plan(checked: Checked, env: Environment): Node {
  // Literals are folded while planning; that costs nothing.
  startMeter(Number.MAX_SAFE_INTEGER);
  return new Planner(checked, env).plan(checked.expr, undefined);
}

function constant(value: Value): Node {
  return { eval: () => value, constant: { value } };
}

/** A node that is one step of the cost when it is evaluated. */
function watched(attribute: Attribute, test = false): Node {
  if (attribute.free && !test) return { eval: (frame) => attribute.resolve(frame), attribute };
  return {
    attribute,
    eval(frame) {
      const value = attribute.resolve(frame);
      // Upstream takes back what a test of presence cost, also where it cost nothing.
      const price = (attribute.free ? 0 : 1) - (test ? 1 : 0);
      if (price !== 0) charge(price);
      return value;
    },
  };
}

class Planner {
  private readonly checked: Checked;
  private readonly env: Environment;

  constructor(checked: Checked, env: Environment) {
    this.checked = checked;
    this.env = env;
  }

  plan(expr: Expr, scope: Scope | undefined): Node {
    chargeWork(PART);
    switch (expr.kind) {
      case 'literal':
        return constant(expr.value);
      case 'ident':
        return this.ident(expr.id, expr.name, scope);
      case 'select':
        return this.select(expr, scope);
      case 'call':
        return this.call(expr, scope);
      case 'list':
        return this.list(expr, scope);
      case 'map':
        return this.map(expr, scope);
      case 'fold':
        return this.fold(expr, scope);
      default:
        throw new PlanError(`unknown type: ${expr.name}`);
    }
  }

  private ident(id: number, name: string, scope: Scope | undefined): Node {
    const type = this.checked.typeNames.get(id);
    if (type) return constant(type);
    return watched(new Reference(this.variable(name.replace(/^\./, ''), scope)));
  }

  private variable(name: string, scope: Scope | undefined): (frame: Frame) => Value {
    let depth = 0;
    for (let each = scope; each; each = each.outer, depth++) {
      const up = (frame: Frame) => {
        let found = frame;
        for (let i = 0; i < depth; i++) found = found.outer as Frame;
        return found;
      };
      if (each.accuVar === name) return (frame) => up(frame).accumulator as Value;
      if (each.inResult) continue;
      if (each.iterVar === name) return depth === 0 ? (frame) => frame.first : (frame) => up(frame).first;
      if (each.iterVar2 === name) return (frame) => up(frame).second;
    }
    const missing = new CelError(`no such attribute(s): ${name}`);
    return (frame) => {
      const value = frame.variables(name);
      return value === undefined ? missing : value;
    };
  }

  private attributeOf(node: Node): Attribute {
    return node.attribute ?? new Reference((frame) => node.eval(frame));
  }

  private select(expr: Select, scope: Scope | undefined): Node {
    const type = this.checked.typeNames.get(expr.id);
    if (type) return constant(type);
    const operand = this.plan(expr.operand, scope);
    const attribute = this.attributeOf(operand);
    const { field } = expr;
    attribute.qualify({ optional: false, test: expr.test, key: () => field });
    const node = watched(attribute, expr.test);
    if (!expr.test) return node;
    return {
      eval(frame) {
        const value = node.eval(frame);
        return value instanceof Optional ? value.value !== undefined : value;
      },
      attribute,
    };
  }

  private call(expr: Call, scope: Scope | undefined): Node {
    const args = (expr.target ? [expr.target, ...expr.args] : expr.args).map((arg) => this.plan(arg, scope));
    switch (expr.name) {
      case '_&&_':
        return { eval: logical(args as [Node, Node], false) };
      case '_||_':
        return { eval: logical(args as [Node, Node], true) };
      case '_?_:_': {
        const [condition, yes, no] = args as [Node, Node, Node];
        return watched(new Choice((frame) => condition.eval(frame), this.attributeOf(yes), this.attributeOf(no)));
      }
      case '_==_':
      case '_!=_':
        return { eval: equality(args as [Node, Node], expr.name) };
      case '_[_]':
        return this.index(args as [Node, Node], false);
      case '_[?_]':
      case '_?._':
        return this.index(args as [Node, Node], true);
    }
    const overloads = this.checked.overloads.get(expr.id) ?? [];
    const overload = overloads.length === 1 ? (overloads[0] as string) : '';
    if (expr.name === 'or' || expr.name === 'orValue') return { eval: orElse(args as [Node, Node], expr.name) };
    if (overload === 'in_list' && args[1]?.constant) {
      const member = membership(args[0] as Node, args[1].constant.value as List);
      if (member) return member;
    }
    const declared = this.env.functions.get(expr.name) as FunctionDeclaration;
    const node = planCall(declared, overload, args, this.patternOf(expr.name, args));
    if (!CONVERSIONS.has(expr.name) || args.length !== 1 || !args[0]?.constant) return node;
    const value = invoke(declared, overload, [args[0].constant.value]);
    if (value instanceof CelError) throw new PlanError(value.message);
    return constant(value);
  }

  /** Whether a pattern is written out; it is compiled now, and must be one. */
  private patternOf(name: string, args: readonly Node[]): boolean {
    if (name !== 'matches' && name !== 'find' && name !== 'findAll') return false;
    const pattern = args[1]?.constant?.value;
    if (typeof pattern !== 'string') return false;
    const compiled = compilePattern(pattern);
    if (compiled instanceof Error) throw new PlanError(compiled.message);
    return true;
  }

  private index([operand, index]: [Node, Node], optional: boolean): Node {
    const literal = index.constant?.value;
    if (literal !== undefined && (literal === null || (typeof literal === 'object' && !isUint(literal)))) {
      throw new PlanError(`invalid qualifier type: ${goType(literal)}`);
    }
    const attribute = this.attributeOf(operand);
    const key: Qualifier['key'] = index.constant
      ? () => (index.constant as { value: Value }).value
      : index.attribute
        ? (frame) => (index.attribute as Attribute).resolve(frame)
        : (frame) => index.eval(frame);
    attribute.qualify({ optional, test: false, key });
    return watched(attribute);
  }

  private list(expr: ListLiteral, scope: Scope | undefined): Node {
    const elements = expr.elements.map((element) => this.plan(element, scope));
    const optionals = new Set(expr.optionals);
    const make = (frame: Frame): Value => {
      const items: Value[] = [];
      for (let i = 0; i < elements.length; i++) {
        const value = (elements[i] as Node).eval(frame);
        if (value instanceof CelError) return value;
        if (!optionals.has(i)) items.push(value);
        else if (!(value instanceof Optional)) {
          return new CelError(`cannot initialize optional list element from non-optional value ${show(value)}`);
        } else if (value.value !== undefined) items.push(value.value);
      }
      return new Items(items);
    };
    return this.aggregate(make, elements, 10);
  }

  private map(expr: MapLiteral, scope: Scope | undefined): Node {
    const entries = expr.entries.map(({ key, value, optional }) => ({
      key: this.plan(key, scope),
      value: this.plan(value, scope),
      optional,
    }));
    const make = (frame: Frame): Value => {
      const made = new Entries();
      for (const entry of entries) {
        const key = entry.key.eval(frame);
        if (key instanceof CelError) return key;
        const value = entry.value.eval(frame);
        if (value instanceof CelError) return value;
        if (!entry.optional) made.set(key, value);
        else if (!(value instanceof Optional)) {
          return new CelError(`cannot initialize optional entry '${show(key)}' from non-optional value ${show(value)}`);
        } else if (value.value === undefined) made.delete(key);
        else made.set(key, value.value);
      }
      return made;
    };
    return this.aggregate(
      make,
      entries.flatMap(({ key, value }) => [key, value]),
      30,
    );
  }

  /** Lists and maps of literals are made once. */
  private aggregate(make: (frame: Frame) => Value, parts: readonly Node[], base: number): Node {
    if (parts.every((part) => part.constant)) return constant(make(undefined as never));
    return {
      eval(frame) {
        const value = make(frame);
        charge(base);
        return value;
      },
    };
  }

  private fold(expr: Fold, scope: Scope | undefined): Node {
    const { accuVar, iterVar, iterVar2 } = expr;
    const inner: Scope = { accuVar, iterVar, iterVar2, inResult: false, outer: scope };
    const init = this.plan(expr.init, scope);
    const range = this.plan(expr.range, scope);
    const condition = this.plan(expr.condition, inner);
    const step = this.plan(expr.step, inner);
    const result = this.plan(expr.result, { ...inner, inResult: true });
    const two = iterVar2 !== '';
    return {
      eval(outer) {
        const over = range.eval(outer);
        if (over instanceof CelError) return over;
        const frame = new LoopFrame(outer, init);
        if (over instanceof List) {
          for (let i = 0, count = over.size; i < count; i++) {
            if (two) {
              frame.first = BigInt(i);
              frame.second = over.at(i);
            } else frame.first = over.at(i);
            if (condition.eval(frame) === false) break;
            frame.accumulator = step.eval(frame);
          }
        } else if (over instanceof MapValue) {
          for (const key of over.keys()) {
            frame.first = key;
            if (two) frame.second = over.find(key) as Value;
            if (condition.eval(frame) === false) break;
            frame.accumulator = step.eval(frame);
          }
        } else if (two) return new CelError(`unsupported comprehension range type: ${goType(over)}`);
        else return new CelError(`got '${goType(over)}', expected iterable type`);
        const value = result.eval(frame);
        if (value instanceof Growing) return new Items(value.items);
        return value;
      },
    };
  }
}

const UNSET = Symbol('unset');

/** The accumulator is made when it is first asked for, as cel-go does: a loop over nothing may never ask. */
class LoopFrame implements Frame {
  readonly variables: Frame['variables'];
  readonly outer: Frame;
  first: Value = null;
  second: Value = null;
  private readonly init: Node;
  private current: Value | typeof UNSET = UNSET;

  constructor(outer: Frame, init: Node) {
    this.variables = outer.variables;
    this.outer = outer;
    this.init = init;
  }

  get accumulator(): Value {
    if (this.current === UNSET) {
      const value = this.init.eval(this.outer);
      if (value instanceof List && value.size === 0) this.current = new Growing();
      else if (value instanceof MapValue && value.size === 0) this.current = new Entries();
      else this.current = value;
    }
    return this.current;
  }

  set accumulator(value: Value | undefined) {
    this.current = value as Value;
  }
}

/** `stop` decides at once: false for &&, true for ||. Errors wait for the other side. */
function logical([left, right]: [Node, Node], stop: boolean): (frame: Frame) => Value {
  return (frame) => {
    const a = left.eval(frame);
    if (a === stop) return stop;
    const b = right.eval(frame);
    if (b === stop) return stop;
    if (typeof a !== 'boolean') return a instanceof CelError ? a : NO_OVERLOAD;
    if (typeof b !== 'boolean') return b instanceof CelError ? b : NO_OVERLOAD;
    return !stop;
  };
}

function equality([left, right]: [Node, Node], name: '_==_' | '_!=_'): (frame: Frame) => Value {
  const price = callCost(name, name === '_==_' ? 'equals' : 'not_equals');
  return (frame) => {
    const a = left.eval(frame);
    const b = right.eval(frame);
    charge(price([a, b], null, ''));
    if (a instanceof CelError) return a;
    if (b instanceof CelError) return b;
    const same = equal(a, b);
    return name === '_==_' ? same : same !== true;
  };
}

function orElse([left, right]: [Node, Node], name: 'or' | 'orValue'): (frame: Frame) => Value {
  return (frame) => {
    const a = left.eval(frame);
    if (a instanceof CelError) return a;
    if (!(a instanceof Optional)) return new CelError(`no such overload: ${name}`);
    if (a.value !== undefined) return name === 'or' ? a : a.value;
    return right.eval(frame);
  };
}

/** `x in ['a', 'b']` is a look-up where the list is written out, and costs nothing. */
function membership(needle: Node, list: List): Node | undefined {
  if (list.size === 0) return constant(false);
  const items = list.toArray();
  if (
    items.some((item) => item === null || item instanceof Uint8Array || (typeof item === 'object' && !isUint(item)))
  ) {
    return undefined;
  }
  return {
    eval(frame) {
      const value = needle.eval(frame);
      if (value instanceof CelError) return value;
      if (value instanceof Timestamp || value instanceof Duration) return false;
      return items.some((item) => equal(value, item) === true);
    },
  };
}

function isUint(value: Value): boolean {
  return value !== null && typeof value === 'object' && value.constructor.name === 'Uint';
}
