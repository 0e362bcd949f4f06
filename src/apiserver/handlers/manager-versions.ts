/**
 * Who manages fields may do so in the terms of another version of the kind. Recording and applying then compare objects
 * in that version; the algorithms do not wait, so a conversion that needs a webhook interrupts them, is made, and they
 * start over: they ask for the same conversions in the same order each time, and there are few.
 */
import type { KubeObject } from '../../api/object.ts';
import type { VersionLookup } from '../apply/versions.ts';
import { clone } from '../json.ts';
import type { Resource } from '../resource.ts';
import { convertTo } from './conversion.ts';
import { servedApiVersion } from './stored-form.ts';

class Missing {
  readonly object: KubeObject;
  readonly target: Resource;
  readonly id: string;

  constructor(object: KubeObject, target: Resource, id: string) {
    this.object = object;
    this.target = target;
    this.id = id;
  }
}

/** More than any apply needs: one for each state of the object in each version. */
const LIMIT = 100;

export async function inVersions<T>(
  resource: Resource,
  live: KubeObject | undefined,
  work: (versions: VersionLookup | undefined) => T,
): Promise<T> {
  if (!resource.custom || !namesOthers(live, servedApiVersion(resource))) return work(undefined);
  const made = new Map<string, KubeObject>();
  const lookup = lookupOf(resource, made);
  for (let attempt = 0; ; attempt++) {
    try {
      return work(lookup);
    } catch (error) {
      if (!(error instanceof Missing) || attempt === LIMIT) throw error;
      made.set(error.id, await convertTo(error.target, error.object));
    }
  }
}

function namesOthers(live: KubeObject | undefined, apiVersion: string): boolean {
  return (live?.metadata.managedFields ?? []).some((entry) => entry.apiVersion !== apiVersion);
}

function lookupOf(resource: Resource, made: ReadonlyMap<string, KubeObject>): VersionLookup {
  return (apiVersion) => {
    const [group = '', version = ''] = apiVersion.split('/');
    const target = group === resource.group ? resource.custom?.inVersion(version) : undefined;
    if (!target) return undefined;
    const convert = (object: KubeObject): KubeObject => {
      if (!target.custom?.conversion) return { ...object, apiVersion };
      const id = `${apiVersion} ${JSON.stringify(object)}`;
      const known = made.get(id);
      if (!known) throw new Missing(withMetadata(object), target, id);
      return clone(known);
    };
    return { schema: target.schema(), convert };
  };
}

/** What is left of an object while fields are taken from it may lack even that. */
function withMetadata(object: KubeObject): KubeObject {
  return object.metadata ? object : { ...object, metadata: {} };
}
