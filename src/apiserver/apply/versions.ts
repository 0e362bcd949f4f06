/** Managers may own fields in the terms of another version of the kind; this is how to get there. */
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../schema/schema.ts';
import { type CompileOptions, type Type, typeOf } from './type.ts';
import type { JsonMap } from './value.ts';

/** Another version of the kind: its schema, and a copy of an object converted to it. Undefined if it is not served. */
export type VersionLookup = (
  apiVersion: string,
) => { schema: Schema; convert(object: KubeObject): KubeObject } | undefined;

export interface Versioned {
  type: Type;
  /** Converts from whatever version the object says it is. */
  convert(object: JsonMap): JsonMap;
}

export class Versions {
  readonly apiVersion: string;
  readonly type: Type;
  private readonly lookup: VersionLookup | undefined;
  private readonly options: CompileOptions;

  constructor(apiVersion: string, schema: Schema, options: CompileOptions, lookup: VersionLookup | undefined) {
    this.apiVersion = apiVersion;
    this.type = typeOf(schema, options);
    this.options = options;
    this.lookup = lookup;
  }

  /** Without a lookup every version counts as alike, which most are. */
  at(apiVersion: string): Versioned | undefined {
    if (!this.lookup) return { type: this.type, convert: (object) => object };
    const found = this.lookup(apiVersion);
    if (!found) return apiVersion === this.apiVersion ? { type: this.type, convert: (object) => object } : undefined;
    return {
      type: apiVersion === this.apiVersion ? this.type : typeOf(found.schema, this.options),
      convert: (object) => (object.apiVersion === apiVersion ? object : found.convert(object as KubeObject)),
    };
  }
}
