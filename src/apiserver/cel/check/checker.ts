/** Types for every part of an expression, and complaints in cel-go's words where there are none. */
import { chargeWork } from '../../allowance.ts';
import type { Call, Expr, Fold, ListLiteral, MapLiteral, Select, Struct } from '../syntax/ast.ts';
import { CompileError, type Issue } from '../syntax/issue.ts';
import type { Parsed } from '../syntax/parser.ts';
import { typeOf } from '../values/value.ts';
import { type FunctionDeclaration, instantiate } from './declarations.ts';
import { type Environment, typeNamed, typeOfName } from './environment.ts';
import { literalIssues } from './literals.ts';
import { BOOL, DYN, ERROR, INT, listOf, mapOf, optionalOf, Type, TypeTooLarge } from './type.ts';
import { Bindings, mostGeneral } from './unify.ts';

/** Finding the type of one part of an expression, in units of work. */
const PART = 20;

export interface Checked extends Parsed {
  type: Type;
  types: ReadonlyMap<number, Type>;
  /** Overloads a call may come to, by the call's id. */
  overloads: ReadonlyMap<number, readonly string[]>;
  /** Names of variables the expression refers to. */
  references: ReadonlySet<string>;
  /** Idents and selections that name a type. */
  typeNames: ReadonlyMap<number, Type>;
}

/** Throws a CompileError. */
export function check(parsed: Parsed, env: Environment): Checked {
  const checker = new Checker(parsed, env);
  let checked: Checked;
  try {
    checked = checker.check();
  } catch (error) {
    if (!(error instanceof TypeTooLarge)) throw error;
    throw new CompileError(parsed.source, [{ at: -1, message: error.message }]);
  }
  const issues = [...checker.issues];
  if (issues.length === 0) issues.push(...literalIssues(checked));
  if (issues.length > 0) throw new CompileError(parsed.source, issues);
  return checked;
}

interface Scope {
  names: Map<string, Type>;
  parent?: Scope;
}

class Checker {
  readonly issues: Issue[] = [];
  private readonly parsed: Parsed;
  private readonly env: Environment;
  private readonly types = new Map<number, Type>();
  private readonly overloads = new Map<number, string[]>();
  private readonly references = new Set<string>();
  private readonly typeNames = new Map<number, Type>();
  private readonly bindings = new Bindings();
  private variables = 0;
  private scope: Scope | undefined;

  constructor(parsed: Parsed, env: Environment) {
    this.parsed = parsed;
    this.env = env;
  }

  check(): Checked {
    this.visit(this.parsed.expr);
    for (const [id, type] of this.types) this.types.set(id, this.bindings.resolve(type, true));
    return {
      ...this.parsed,
      type: this.typeOf(this.parsed.expr),
      types: this.types,
      overloads: this.overloads,
      references: this.references,
      typeNames: this.typeNames,
    };
  }

  private report(id: number, message: string): void {
    this.issues.push({ at: this.parsed.positions[id] as number, message });
  }

  private typeOf(expr: Expr): Type {
    return this.types.get(expr.id) ?? ERROR;
  }

  private visit(expr: Expr): void {
    chargeWork(PART);
    switch (expr.kind) {
      case 'literal':
        this.types.set(expr.id, typeOf(expr.value));
        return;
      case 'ident':
        if (!this.resolveName(expr.id, expr.name)) this.undeclared(expr.id, expr.name);
        return;
      case 'select':
        return this.select(expr);
      case 'call':
        return this.call(expr);
      case 'list':
        return this.list(expr);
      case 'map':
        return this.map(expr);
      case 'struct':
        return this.struct(expr);
      case 'fold':
        return this.fold(expr);
    }
  }

  private undeclared(id: number, name: string): void {
    this.types.set(id, ERROR);
    this.report(id, `undeclared reference to '${name}' (in container '')`);
  }

  private resolveName(id: number, name: string): boolean {
    for (let scope = this.scope; scope; scope = scope.parent) {
      const local = scope.names.get(name);
      if (local) {
        this.types.set(id, local);
        return true;
      }
    }
    const type = typeOfName(this.env, name);
    if (!type) return false;
    this.types.set(id, type);
    const plain = name.replace(/^\./, '');
    if (this.env.variables.has(plain)) this.references.add(plain);
    else this.typeNames.set(id, typeNamed(plain) as Type);
    return true;
  }

  private select(expr: Select): void {
    const name = expr.test ? undefined : qualifiedName(expr);
    if (name !== undefined && this.resolveName(expr.id, name)) {
      // A variable whose name has a dot in it.
      if (!this.typeNames.has(expr.id)) Object.assign(expr, { kind: 'ident', name });
      return;
    }
    const type = this.field(expr.id, expr.operand, expr.field, false);
    this.types.set(expr.id, expr.test ? BOOL : this.bindings.resolve(type, false));
  }

  private field(id: number, operand: Expr, field: string, optional: boolean): Type {
    this.visit(operand);
    const operandType = this.bindings.resolve(this.typeOf(operand), false);
    const target = operandType.isOptional ? (operandType.params[0] as Type) : operandType;
    const type = this.fieldType(id, target, field);
    return operandType.isOptional || optional ? optionalOf(type) : type;
  }

  private fieldType(id: number, target: Type, field: string): Type {
    switch (target.kind) {
      case 'map':
        return target.params[1] as Type;
      case 'struct': {
        const fields = this.env.fieldsOf(target.name);
        const type = fields?.get(field);
        if (type) return type;
        this.report(id, fields ? `undefined field '${field}'` : `unexpected failed resolution of '${target.name}'`);
        return ERROR;
      }
      case 'param':
        this.bindings.assignable(DYN, target);
        return DYN;
      case 'dyn':
      case 'error':
        return DYN;
      default:
        this.report(id, `type '${target}' does not support field selection`);
        return DYN;
    }
  }

  private call(expr: Call): void {
    if (expr.name === '_?._') {
      const [operand, field] = expr.args as [Expr, Expr & { value: string }];
      const type = this.field(expr.id, operand, field.value, true);
      this.types.set(field.id, typeOf(field.value));
      this.types.set(expr.id, this.bindings.resolve(type, false));
      this.overloads.set(expr.id, ['select_optional_field']);
      return;
    }
    for (const arg of expr.args) this.visit(arg);
    const prefix = expr.target && qualifiedName(expr.target);
    if (prefix !== undefined) {
      const declared = this.env.functions.get(`${prefix.replace(/^\./, '')}.${expr.name}`);
      if (declared) {
        expr.name = declared.name;
        delete expr.target;
        return this.resolve(expr, declared);
      }
    }
    if (expr.target) this.visit(expr.target);
    const name = expr.target ? expr.name : expr.name.replace(/^\./, '');
    const declared = this.env.functions.get(name);
    if (!declared) return this.undeclared(expr.id, expr.name);
    expr.name = name;
    this.resolve(expr, declared);
  }

  private resolve(expr: Call, declared: FunctionDeclaration): void {
    const args = expr.target ? [expr.target, ...expr.args] : expr.args;
    if (declared.name === '_&&_' || declared.name === '_||_') return this.logical(expr, declared, args);
    const types = args.map((arg) => this.typeOf(arg));
    const found: string[] = [];
    let result: Type | undefined;
    for (const overload of declared.overloads) {
      if (overload.member !== (expr.target !== undefined)) continue;
      const made = instantiate(overload, () => this.freshType());
      if (!this.bindings.assignableList(types, made.args)) continue;
      found.push(overload.id);
      const type = this.bindings.resolve(made.result, false);
      if (result === undefined) result = type;
      else if (!result.isDyn && !type.equals(result)) result = DYN;
    }
    if (result === undefined) {
      const shown = types.map((type) => this.bindings.resolve(type, true));
      const receiver = expr.target ? `${shown.shift()}.` : '';
      const text = `found no matching overload for '${declared.name}' applied to '${receiver}(${shown.join(', ')})'`;
      this.report(expr.id, text);
      this.types.set(expr.id, ERROR);
      return;
    }
    this.types.set(expr.id, result);
    this.overloads.set(expr.id, found);
  }

  private logical(expr: Call, declared: FunctionDeclaration, args: Expr[]): void {
    let failed = false;
    for (const arg of args) {
      if (this.bindings.assignable(this.typeOf(arg), BOOL)) continue;
      this.report(arg.id, `expected type 'bool' but found '${this.typeOf(arg)}'`);
      failed = true;
    }
    this.types.set(expr.id, failed ? ERROR : BOOL);
    if (!failed) this.overloads.set(expr.id, [declared.overloads[0]?.id as string]);
  }

  private freshType(): Type {
    return new Type('param', `_var${this.variables++}`);
  }

  private list(expr: ListLiteral): void {
    let common: Type | undefined;
    expr.elements.forEach((element, i) => {
      this.visit(element);
      const type = this.unwrapped(element, expr.optionals.includes(i));
      common = this.joined(common, type);
    });
    this.types.set(expr.id, listOf(common ?? this.freshType()));
  }

  /** The type inside an optional, where one is asked for. */
  private unwrapped(expr: Expr, optional: boolean): Type {
    const type = this.typeOf(expr);
    if (!optional) return type;
    if (type.isOptional) return type.params[0] as Type;
    if (!type.isDyn) this.report(expr.id, `expected type '${optionalOf(type)}' but found '${type}'`);
    return type;
  }

  private joined(before: Type | undefined, type: Type): Type {
    if (before === undefined) return type;
    // Mixed literals are refused later, but for those that are formatted.
    return this.bindings.assignable(before, type) ? mostGeneral(before, type) : DYN;
  }

  private map(expr: MapLiteral): void {
    let keys: Type | undefined;
    let values: Type | undefined;
    for (const entry of expr.entries) {
      this.visit(entry.key);
      keys = this.joined(keys, this.typeOf(entry.key));
      this.visit(entry.value);
      values = this.joined(values, this.unwrapped(entry.value, entry.optional));
    }
    this.types.set(expr.id, mapOf(keys ?? this.freshType(), values ?? this.freshType()));
  }

  /** No object type can be made by an expression here; only the complaint remains. */
  private struct(expr: Struct): void {
    const type = typeOfName(this.env, expr.name);
    if (!type) return this.undeclared(expr.id, expr.name);
    for (const field of expr.fields) this.visit(field.value);
    this.types.set(expr.id, ERROR);
    const problem =
      type.kind === 'type' ? `'${type.params[0]?.name}' is not a message type` : `'${type.name}' is not a type`;
    this.report(expr.id, problem);
  }

  private fold(expr: Fold): void {
    this.visit(expr.range);
    this.visit(expr.init);
    const range = this.bindings.resolve(this.typeOf(expr.range), false);
    const accu = this.typeOf(expr.init);
    this.scope = { names: new Map([[expr.accuVar, accu]]), parent: this.scope };
    const [first, second] = this.iterationTypes(expr, range);
    const loop = new Map([[expr.iterVar, first]]);
    if (expr.iterVar2) loop.set(expr.iterVar2, second);
    this.scope = { names: loop, parent: this.scope };
    this.visit(expr.condition);
    this.assertType(expr.condition, BOOL);
    this.visit(expr.step);
    this.assertType(expr.step, accu);
    this.scope = this.scope.parent as Scope;
    this.visit(expr.result);
    this.scope = this.scope.parent;
    this.types.set(expr.id, this.bindings.resolve(this.typeOf(expr.result), false));
  }

  private iterationTypes(expr: Fold, range: Type): [Type, Type] {
    const two = expr.iterVar2 !== '';
    switch (range.kind) {
      case 'list': {
        const element = range.params[0] as Type;
        return two ? [INT, element] : [element, element];
      }
      case 'map':
        return range.params as [Type, Type];
      case 'dyn':
      case 'error':
      case 'param':
        this.bindings.assignable(DYN, range);
        return [DYN, DYN];
      default: {
        const text = `expression of type '${range}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        this.report(expr.range.id, text);
        return [ERROR, ERROR];
      }
    }
  }

  private assertType(expr: Expr, type: Type): void {
    if (this.bindings.assignable(type, this.typeOf(expr))) return;
    this.report(expr.id, `expected type '${type}' but found '${this.typeOf(expr)}'`);
  }
}

/** `a.b.c`, where an expression is nothing but names. */
function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.test) return undefined;
  const prefix = qualifiedName(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}
