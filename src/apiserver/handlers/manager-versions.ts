/**
 * Who manages fields may do so in the terms of another version of the kind. Recording and applying then compare objects
 * in that version; the algorithms do not wait, so a conversion that needs a webhook interrupts them, is made, and they
 * start over: they ask for the same conversions in the same order each time, and there are few.
 */
import type { KubeObject } from '../../api/object.ts';
import { conversionId, MissingConversion, type VersionTerms } from '../apply/version-terms.ts';
import type { Resource } from '../resource.ts';
import { convertTo } from './conversion.ts';
import { servedApiVersion } from './stored-form.ts';

/** More than any apply needs: one for each state of the object in each version. */
const LIMIT = 100;

export async function inVersions<T>(
  resource: Resource,
  live: KubeObject | undefined,
  work: (terms: VersionTerms | undefined) => T | Promise<T>,
): Promise<T> {
  const terms = termsOf(resource, live);
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(terms);
    } catch (error) {
      if (!(error instanceof MissingConversion) || !terms || attempt === LIMIT) throw error;
      const { apiVersion, object } = error;
      const target = resource.custom?.inVersion(versionIn(apiVersion)) as Resource;
      terms.made[conversionId(apiVersion, object)] = await convertTo(target, withMetadata(object));
    }
  }
}

/** Undefined where no manager knows another version. */
function termsOf(resource: Resource, live: KubeObject | undefined): VersionTerms | undefined {
  const { custom } = resource;
  const own = servedApiVersion(resource);
  const managed = live?.metadata.managedFields;
  if (!custom || !managed?.some((entry) => entry.apiVersion !== own)) return undefined;
  const terms: VersionTerms = { schemas: {}, hasWebhook: custom.conversion !== undefined, made: {} };
  for (const apiVersion of [own, ...managed.map((entry) => entry.apiVersion ?? '')]) {
    const target = apiVersion.startsWith(`${resource.group}/`) ? custom.inVersion(versionIn(apiVersion)) : undefined;
    if (target) terms.schemas[apiVersion] = target.schema();
  }
  return terms;
}

function versionIn(apiVersion: string): string {
  return apiVersion.split('/')[1] ?? '';
}

/** What is left of an object while fields are taken from it may lack even that. */
function withMetadata(object: KubeObject): KubeObject {
  return object.metadata ? object : { ...object, metadata: {} };
}
