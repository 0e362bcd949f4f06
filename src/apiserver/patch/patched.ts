/** An object with a patch applied to it, in any of the forms but server-side apply. Its inputs stay as they are. */
import type { KubeObject } from '../../api/object.ts';
import type { Schema } from '../schema/schema.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicPatch } from './strategic.ts';

export type PatchType = 'json' | 'merge' | 'strategic';

export function patched(type: PatchType, live: KubeObject, patch: unknown, schema: Schema): KubeObject {
  switch (type) {
    case 'json':
      return applyJsonPatch(live, patch) as KubeObject;
    case 'merge':
      return applyMergePatch(live, patch) as KubeObject;
    case 'strategic':
      return applyStrategicPatch(live, patch, schema) as KubeObject;
  }
}
