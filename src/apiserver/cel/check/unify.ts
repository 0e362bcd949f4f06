/** Which types fit where others are wanted; type parameters are bound as they are met. */
import { DYN, listOf, mapOf, Type, typeOfType } from './type.ts';

/** Bindings of type parameters. What a failed attempt bound is taken back. */
export class Bindings {
  private readonly bound = new Map<string, Type>();
  private readonly journal: [string, Type | undefined][] = [];

  find(type: Type): Type | undefined {
    return type.kind === 'param' ? this.bound.get(type.name) : undefined;
  }

  private add(type: Type, to: Type): void {
    this.journal.push([type.name, this.bound.get(type.name)]);
    this.bound.set(type.name, to);
  }

  assignable(a: Type, b: Type): boolean {
    return this.attempt(() => this.fits(a, b));
  }

  assignableList(a: readonly Type[], b: readonly Type[]): boolean {
    return this.attempt(() => this.fitsAll(a, b));
  }

  private attempt(run: () => boolean): boolean {
    const mark = this.journal.length;
    if (run()) return true;
    while (this.journal.length > mark) {
      const [name, before] = this.journal.pop() as [string, Type | undefined];
      if (before === undefined) this.bound.delete(name);
      else this.bound.set(name, before);
    }
    return false;
  }

  private fitsAll(a: readonly Type[], b: readonly Type[]): boolean {
    return a.length === b.length && a.every((type, i) => this.fits(type, b[i] as Type));
  }

  private fits(a: Type, b: Type): boolean {
    if (b.kind === 'param') {
      const { valid, bound } = this.substitutable(a, b);
      if (valid) return true;
      if (bound) return false;
    }
    if (a.kind === 'param') return this.substitutable(b, a).valid;
    if (isLoose(a) || isLoose(b)) return true;
    if (a.kind === 'null') return isNullable(b);
    if (b.kind === 'null') return isNullable(a);
    switch (a.kind) {
      case 'type':
        return b.kind === 'type';
      case 'opaque':
      case 'list':
      case 'map':
        return a.kind === b.kind && a.name === b.name && this.fitsAll(a.params, b.params);
      default:
        return a.equals(b);
    }
  }

  /** Whether `b`, a parameter, may stand for `a`, and whether it already stands for something. */
  private substitutable(a: Type, b: Type): { valid: boolean; bound: boolean } {
    if (a.equals(b)) return { valid: true, bound: true };
    const before = this.find(b);
    if (before !== undefined) {
      if (a.equals(before)) return { valid: true, bound: true };
      if (!this.fits(a, before)) return { valid: false, bound: true };
      const general = mostGeneral(a, before);
      if (!this.occurs(b, general)) this.add(b, general);
      return { valid: true, bound: true };
    }
    if (this.occurs(b, a)) return { valid: false, bound: false };
    this.add(b, a);
    return { valid: true, bound: false };
  }

  private occurs(type: Type, within: Type): boolean {
    if (type.equals(within)) return true;
    if (within.kind === 'param') {
      const bound = this.find(within);
      return bound !== undefined && this.occurs(type, bound);
    }
    return within.params.some((param) => this.occurs(type, param));
  }

  /** The type with what is known of its parameters; `loose` makes the others dynamic. */
  resolve(type: Type, loose: boolean): Type {
    const bound = this.find(type);
    if (bound !== undefined) return this.resolve(bound, loose);
    if (type.kind === 'param') return loose ? DYN : type;
    if (type.params.length === 0) return type;
    const params = type.params.map((each) => this.resolve(each, loose));
    switch (type.kind) {
      case 'list':
        return listOf(params[0] as Type);
      case 'map':
        return mapOf(params[0] as Type, params[1] as Type);
      case 'type':
        return typeOfType(params[0] as Type);
      default:
        return new Type(type.kind, type.name, params);
    }
  }
}

function isLoose(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

function isNullable(type: Type): boolean {
  return ['opaque', 'struct', 'duration', 'timestamp', 'null'].includes(type.kind);
}

export function mostGeneral(a: Type, b: Type): Type {
  return isLessSpecific(a, b) ? a : b;
}

function isLessSpecific(a: Type, b: Type): boolean {
  if (a.isDyn || a.kind === 'param') return true;
  if (b.isDyn || b.kind === 'param' || a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'opaque':
    case 'list':
    case 'map':
      return (
        a.name === b.name &&
        a.params.length === b.params.length &&
        a.params.every((param, i) => isLessSpecific(param, b.params[i] as Type))
      );
    case 'type':
      return true;
    default:
      return a.equals(b);
  }
}
