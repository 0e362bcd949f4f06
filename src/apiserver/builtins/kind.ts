/**
 * Makes a `Strategy` from what is special about a kind. The common part is here once: who owns `status`, what the
 * status subresource may touch, and which kinds count generations.
 */
import type { KubeObject } from '../../api/object.ts';
import type { Strategy, WriteContext } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { type Any, assign, clone } from './fields.ts';
import { tidy } from './tidy.ts';

export interface KindRules {
  defaults?(object: Any): void;
  prepareCreate?(object: Any, context: WriteContext): void;
  prepareUpdate?(object: Any, old: Any, context: WriteContext): void;
  prepareSubresource?(subresource: string, object: Any, old: Any, context: WriteContext): void;
  validate?(object: Any): FieldError[];
  /** Writes of the main resource, and of subresources that are not named in `validateSubresource`. */
  validateUpdate?(object: Any, old: Any): FieldError[];
  /** Checks for these subresources instead; `status` is not checked unless it is here. */
  validateSubresource?: Record<string, (object: Any, old: Any) => FieldError[]>;
  warnings?(object: Any, old?: Any): string[];
  gracePeriod?(object: Any, requested: number | undefined): number;
  /** The status a new object starts with. Absent: the kind has no status of its own and nothing is cleared. */
  status?: Record<string, unknown>;
  /** Metadata the status subresource may not change although it is metadata. */
  statusKeeps?: Array<'labels' | 'annotations' | 'ownerReferences' | 'finalizers'>;
  generation?: boolean;
  /** Holds JSON of no fixed shape, where null and empty mean something. */
  raw?: boolean;
  createOnUpdate?: boolean;
  requireResourceVersion?: boolean;
}

/** By which subresource an object is being written: `validateUpdate` is not told, `prepareSubresource` is. */
const viaSubresource = new WeakMap<object, string>();
const UNCHECKED: Record<string, () => FieldError[]> = { status: () => [] };

export function strategy(rules: KindRules): Strategy {
  const made: Strategy = {
    noGeneration: !rules.generation,
    createOnUpdate: rules.createOnUpdate ?? false,
    requireResourceVersion: rules.requireResourceVersion ?? false,
    prepareCreate(object, context) {
      if (rules.status) object.status = clone(rules.status);
      rules.prepareCreate?.(object, context);
    },
    prepareUpdate(object, old, context) {
      if (rules.status) assign(object, 'status', clone(old.status));
      rules.prepareUpdate?.(object, old, context);
    },
    prepareSubresource(subresource, object, old, context) {
      viaSubresource.set(object, subresource);
      if (subresource === 'status') keepAllButStatus(object, old, rules.statusKeeps ?? []);
      rules.prepareSubresource?.(subresource, object, old, context);
    },
  };
  if (!rules.raw) {
    made.defaults = (object) => {
      tidy(object);
      rules.defaults?.(object);
    };
  } else if (rules.defaults) made.defaults = rules.defaults;
  if (rules.validate) made.validate = rules.validate;
  made.validateUpdate = (object, old) => {
    const subresource = viaSubresource.get(object);
    const special = subresource && (rules.validateSubresource?.[subresource] ?? UNCHECKED[subresource]);
    return (special || rules.validateUpdate)?.(object, old) ?? [];
  };
  if (rules.warnings) made.warnings = rules.warnings;
  if (rules.gracePeriod) made.gracePeriod = rules.gracePeriod;
  return made;
}

function keepAllButStatus(object: KubeObject, old: KubeObject, metadata: string[]): void {
  const own = new Set(['apiVersion', 'kind', 'metadata', 'status']);
  for (const name of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (!own.has(name)) assign(object, name, clone(old[name]));
  }
  for (const name of metadata) {
    assign(object.metadata, name, clone((old.metadata as Any)[name]));
  }
}
