/** Trees of JSON such as `vcluster.yaml`: read by path, merged branch by branch. */
export type Json = string | number | boolean | null | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

export function isBranch(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `at(config, 'sync.toHost.pods.enabled')`; undefined where the tree ends before. */
export function at(tree: JsonObject, path: string): Json | undefined {
  let here: Json | undefined = tree;
  for (const key of path.split('.')) {
    if (!isBranch(here)) return undefined;
    here = here[key];
  }
  return here;
}

/** Is it switched on: `true`, or `"true"` where vcluster has three settings. */
export function isOn(tree: JsonObject, path: string): boolean {
  return String(at(tree, path)) === 'true';
}

/** `over` wins; branches are merged, everything else is replaced. */
export function merged(under: JsonObject, over: JsonObject): JsonObject {
  const result: JsonObject = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = result[key];
    result[key] = isBranch(below) && isBranch(value) ? merged(below, value) : value;
  }
  return result;
}

/** Paths of all leaves, as `at` takes them. */
export function leaves(tree: JsonObject, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const path = prefix ? `${prefix}.${key}` : key;
    return isBranch(value) && Object.keys(value).length > 0 ? leaves(value, path) : [path];
  });
}
