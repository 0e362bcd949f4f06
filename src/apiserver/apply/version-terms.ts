/**
 * Other versions of a kind, as plain data: what recording and applying need of them, and what was converted for them. The
 * algorithms do not wait, so a conversion that a webhook has to make interrupts them; it is made, and they start over.
 */
import type { KubeObject } from '../../api/object.ts';
import { clone } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import type { VersionLookup } from './versions.ts';

export interface VersionTerms {
  /** By apiVersion. */
  schemas: Record<string, Schema>;
  /** A webhook converts; otherwise only the apiVersion differs. */
  hasWebhook: boolean;
  /** What the webhook made, by `conversionId`. */
  made: Record<string, KubeObject>;
}

/** A conversion that the webhook has yet to make. */
export class MissingConversion extends Error {
  override readonly name = 'MissingConversion';
  readonly apiVersion: string;
  readonly object: KubeObject;

  constructor(apiVersion: string, object: KubeObject) {
    super(`no conversion to ${apiVersion} yet`);
    this.apiVersion = apiVersion;
    this.object = object;
  }
}

export function conversionId(apiVersion: string, object: KubeObject): string {
  return `${apiVersion} ${JSON.stringify(object)}`;
}

export function lookupIn({ schemas, hasWebhook, made }: VersionTerms): VersionLookup {
  return (apiVersion) => {
    const schema = schemas[apiVersion];
    if (!schema) return undefined;
    const convert = (object: KubeObject): KubeObject => {
      if (!hasWebhook) return { ...object, apiVersion };
      const known = made[conversionId(apiVersion, object)];
      if (!known) throw new MissingConversion(apiVersion, object);
      return clone(known);
    };
    return { schema, convert };
  };
}
