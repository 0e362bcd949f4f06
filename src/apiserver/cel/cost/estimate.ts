/**
 * What an expression may cost at worst, from the sizes its types allow: an expression that cannot be afforded is refused
 * with the CRD that brings it. Follows cel-go's checker/cost.go; only the upper bound is kept.
 */
import { chargeWork } from '../../allowance.ts';
import type { Checked } from '../check/checker.ts';
import type { Type } from '../check/type.ts';
import { sizeOf } from '../library/standard.ts';
import type { Call, Expr, Fold, Select } from '../syntax/ast.ts';
import { estimateCall } from './call-estimate.ts';
import { cap, fixed, type Size, UNKNOWN, union } from './size.ts';

/** Estimating one part of an expression, in units of work. */
const PART = 10;

/** Upper bounds of what is at a path: a variable, then fields, `@items`, `@keys`, `@values`. */
export type SizeAt = (path: readonly string[]) => Size | undefined;

export interface CostNode {
  path: readonly string[];
  type: Type;
  expr?: Expr;
  size?: Size;
}

interface EntrySizes {
  container: 'list' | 'map';
  key: Size;
  value: Size;
}

interface Local {
  path: readonly string[];
  size?: Size;
  entries?: EntrySizes;
}

export function estimateCost(checked: Checked, sizeAt: SizeAt): number {
  return new Estimator(checked, sizeAt).cost(checked.expr);
}

class Estimator {
  private readonly checked: Checked;
  private readonly sizeAt: SizeAt;
  private readonly paths = new Map<number, readonly string[]>();
  private readonly sizes = new Map<number, Size>();
  private readonly entries = new Map<number, EntrySizes>();
  private readonly locals = new Map<string, Local[]>();

  constructor(checked: Checked, sizeAt: SizeAt) {
    this.checked = checked;
    this.sizeAt = sizeAt;
  }

  cost(expr: Expr): number {
    chargeWork(PART);
    switch (expr.kind) {
      case 'literal':
        return 0;
      case 'ident':
        this.paths.set(expr.id, this.local(expr.name)?.path ?? [expr.name]);
        return 1;
      case 'select':
        return this.select(expr);
      case 'call':
        return this.call(expr);
      case 'list':
        return this.list(expr.id, expr.elements);
      case 'map': {
        const sum = cap(expr.entries.reduce((total, { key, value }) => total + this.cost(key) + this.cost(value), 0));
        const keys = this.unionOf(expr.entries.map((entry) => entry.key));
        const values = this.unionOf(expr.entries.map((entry) => entry.value));
        this.entries.set(expr.id, { container: 'map', key: keys, value: values });
        return cap(sum + 30);
      }
      case 'struct':
        return cap(expr.fields.reduce((total, { value }) => total + this.cost(value), 40));
      case 'fold':
        return isBind(expr) ? this.bind(expr) : this.fold(expr);
    }
  }

  private local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1);
  }

  private push(name: string, local: Local): void {
    const stack = this.locals.get(name);
    if (stack) stack.push(local);
    else this.locals.set(name, [local]);
  }

  private pop(name: string): void {
    this.locals.get(name)?.pop();
  }

  private typeOf(expr: Expr): Type {
    return this.checked.types.get(expr.id) as Type;
  }

  private pathOf(expr: Expr): readonly string[] {
    if (expr.kind === 'ident') {
      const local = this.local(expr.name);
      if (local) return local.path;
    }
    return this.paths.get(expr.id) ?? [];
  }

  private select(expr: Select): number {
    const operand = this.cost(expr.operand);
    if (expr.test) return operand;
    this.paths.set(expr.id, [...this.pathOf(expr.operand), expr.field]);
    const { kind } = this.typeOf(expr.operand);
    return cap(operand + (kind === 'map' || kind === 'struct' || kind === 'param' ? 1 : 0));
  }

  private list(id: number, elements: Expr[]): number {
    const sum = elements.reduce((total, element) => total + this.cost(element), 0);
    this.entries.set(id, { container: 'list', key: fixed(1), value: this.unionOf(elements) });
    return cap(sum + 10);
  }

  private unionOf(exprs: Expr[]): Size {
    if (exprs.length === 0) return fixed(0);
    return exprs.map((expr) => this.size(expr) ?? UNKNOWN).reduce(union);
  }

  private size(expr: Expr): Size | undefined {
    const known = this.sizes.get(expr.id) ?? literalSize(expr);
    if (known) return known;
    const estimated = this.sizeAt(this.pathOf(expr));
    if (estimated) {
      this.sizes.set(expr.id, estimated);
      return estimated;
    }
    if (isScalar(this.typeOf(expr))) return fixed(1);
    return expr.kind === 'ident' ? this.local(expr.name)?.size : undefined;
  }

  private entrySizes(expr: Expr): EntrySizes | undefined {
    return this.entries.get(expr.id) ?? (expr.kind === 'ident' ? this.local(expr.name)?.entries : undefined);
  }

  private node(expr: Expr): CostNode {
    const path = this.pathOf(expr);
    const own = path[0] === '@result' || path[0] === '__result__' ? [] : path;
    return { path: own, type: this.typeOf(expr), expr, size: this.size(expr) };
  }

  private call(expr: Call): number {
    if (expr.name === 'dyn') {
      const [arg] = expr.args as [Expr];
      const cost = this.cost(arg);
      this.copySizes(expr, arg);
      return cap(cost + 1);
    }
    const costs = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.node(arg));
    const overloads = this.checked.overloads.get(expr.id) ?? [];
    if (overloads.length === 0) return 0;
    const targetCost = expr.target ? this.cost(expr.target) : 0;
    const target = expr.target && this.node(expr.target);
    let most = 0;
    let result: Size | undefined;
    for (const overload of overloads) {
      const { cost, size } = this.overload(expr, overload, target, args, costs);
      most = Math.max(most, cost);
      if (size) result = result ? union(result, size) : size;
      if ((overload === 'index_list' || overload === 'index_map') && expr.args[0]) {
        result = this.entrySizes(expr.args[0])?.value;
        const step = overload === 'index_list' ? '@items' : '@values';
        this.paths.set(expr.id, [...this.pathOf(expr.args[0]), step]);
      }
      result ??= this.size(expr);
    }
    if (result) this.sizes.set(expr.id, result);
    return cap(targetCost + most);
  }

  private overload(
    expr: Call,
    overload: string,
    target: CostNode | undefined,
    args: CostNode[],
    costs: number[],
  ): { cost: number; size?: Size } {
    const sum = cap(costs.reduce((total, cost) => total + cost, 0));
    const [first, second, third] = args as [CostNode, CostNode, CostNode];
    switch (overload) {
      case 'logical_and':
      case 'logical_or':
        return { cost: sum };
      case 'conditional': {
        const [a, b] = [this.entrySizes(second.expr as Expr), this.entrySizes(third.expr as Expr)];
        this.join(expr, a, b);
        const branches = Math.max(costs[1] as number, costs[2] as number);
        return {
          cost: cap((costs[0] as number) + branches),
          size: union(second.size ?? UNKNOWN, third.size ?? UNKNOWN),
        };
      }
      case 'add_list':
      case 'add_string':
      case 'add_bytes':
        this.join(expr, this.entrySizes(first.expr as Expr), this.entrySizes(second.expr as Expr));
    }
    const estimate = estimateCall(expr.name, overload, target, args, (node) => node.size ?? this.sizeAt(node.path));
    return { cost: cap(estimate.cost + sum), size: estimate.size };
  }

  private join(expr: Expr, a: EntrySizes | undefined, b: EntrySizes | undefined): void {
    if (!a || !b) return;
    this.entries.set(expr.id, { container: a.container, key: union(a.key, b.key), value: union(a.value, b.value) });
  }

  private copySizes(to: Expr, from: Expr): void {
    const size = this.size(from);
    if (size) this.sizes.set(to.id, size);
    const entries = this.entrySizes(from);
    if (entries) this.entries.set(to.id, entries);
  }

  private bind(expr: Fold): number {
    const before = this.cost(expr.range) + this.cost(expr.init);
    this.push(expr.accuVar, this.asLocal(expr.init));
    const result = this.cost(expr.result);
    this.pop(expr.accuVar);
    this.copySizes(expr, expr.result);
    return cap(before + result);
  }

  private asLocal(expr: Expr): Local {
    return { path: this.pathOf(expr), size: this.size(expr), entries: this.entrySizes(expr) };
  }

  private fold(expr: Fold): number {
    const before = this.cost(expr.range) + this.cost(expr.init);
    this.push(expr.accuVar, this.asLocal(expr.init));
    this.pushIteration(expr);
    const each = this.cost(expr.condition) + this.cost(expr.step);
    this.pop(expr.iterVar);
    if (expr.iterVar2) this.pop(expr.iterVar2);
    const result = this.cost(expr.result);
    this.pop(expr.accuVar);
    const count = this.size(expr.range) ?? UNKNOWN;
    if (expr.init.kind === 'literal') {
      const size = this.size(expr.init);
      if (size) this.sizes.set(expr.id, size);
    } else if (expr.init.kind === 'list' || expr.init.kind === 'map') {
      this.sizes.set(expr.id, count);
      const entries = this.entrySizes(expr.step);
      if (entries) this.entries.set(expr.id, entries);
    }
    return cap(before + result + cap(count.max * each));
  }

  private pushIteration({ range, iterVar, iterVar2 }: Fold): void {
    const entries = this.entrySizes(range);
    const path = this.pathOf(range);
    const isList = (entries?.container ?? this.typeOf(range).kind) === 'list';
    const value = { path: [...path, isList ? '@items' : '@values'], size: entries?.value };
    if (iterVar2) {
      this.push(iterVar, { path: [...path, isList ? '@indices' : '@keys'], size: entries?.key });
      this.push(iterVar2, value);
    } else if (isList) this.push(iterVar, value);
    else this.push(iterVar, { path: [...path, '@keys'], size: entries?.key });
  }
}

/** A name for a value, made of a loop over nothing. */
function isBind({ range, condition, accuVar }: Fold): boolean {
  const over = range.kind === 'list' && range.elements.length === 0;
  return over && condition.kind === 'literal' && condition.value === false && accuVar !== '__result__';
}

function literalSize(expr: Expr): Size | undefined {
  if (expr.kind === 'literal') return fixed(sizeOf(expr.value) ?? 1);
  if (expr.kind === 'list') return fixed(expr.elements.length);
  return expr.kind === 'map' ? fixed(expr.entries.length) : undefined;
}

const SCALARS = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

function isScalar(type: Type): boolean {
  return type.isOptional ? isScalar(type.params[0] as Type) : SCALARS.has(type.kind);
}
