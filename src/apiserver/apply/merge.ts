/**
 * A configuration merged into an object: nothing is removed, the configuration's values win, items of associative
 * lists are matched by identity (structured-merge-diff typed/merge.go). The result shares parts with its inputs.
 */
import { chargeWork } from '../allowance.ts';
import { assign } from '../json.ts';
import { FIELD_WORK } from './field-set.ts';
import type { ListType, MapType, Type } from './type.ts';
import { childType, get, isMap, itemElement, type JsonMap, shapesOf, tryItemElement } from './value.ts';

export function merge(type: Type, live: unknown, config: unknown): unknown {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const shape = shapesOf(type, live, config)[1];
  if (shape === 'map') {
    const map = type.map as MapType;
    const l = isMap(live) ? live : {};
    const r = isMap(config) ? config : {};
    if (!map.atomic && (hasKeys(l) || hasKeys(r))) return mergeMaps(map, l, r);
  } else if (shape === 'list') {
    const list = type.list as ListType;
    const l = Array.isArray(live) ? live : [];
    const r = Array.isArray(config) ? config : [];
    if (list.associative && l.length + r.length > 0) return mergeLists(list, l, r);
  }
  return config;
}

function hasKeys(map: JsonMap): boolean {
  for (const _ in map) return true;
  return false;
}

function mergeMaps(map: MapType, live: JsonMap, config: JsonMap): JsonMap {
  const out: JsonMap = {};
  for (const key in live) {
    chargeWork(FIELD_WORK);
    const value = live[key];
    if (value !== undefined) assign(out, key, merge(childType(map, key), value, get(config, key)));
  }
  for (const key in config) {
    const value = config[key];
    if (value !== undefined && get(live, key) === undefined) assign(out, key, value);
  }
  return out;
}

/**
 * Order: items both know stay in the configuration's order, items only one side knows keep their place relative to
 * their neighbours as far as that can be.
 */
function mergeLists(list: ListType, live: unknown[], config: unknown[]): unknown[] {
  chargeWork(FIELD_WORK * (live.length + config.length));
  const liveElements = live.map((item) => tryItemElement(list, item));
  const configElements = config.map((item) => itemElement(list, item));
  const liveItems = new Map<string | undefined, unknown>();
  // Items that occur twice are not merged with: null stands for them.
  for (let i = 0; i < live.length; i++) {
    liveItems.set(liveElements[i], liveItems.has(liveElements[i]) ? null : live[i]);
  }
  const configItems = new Map(configElements.map((element, i) => [element, config[i]]));
  const shared = configElements.filter((element) => liveItems.has(element));
  let next = 0;
  const merged = new Set<string>();
  const out: unknown[] = [];
  const take = (element: string) => {
    merged.add(element);
    out.push(merge(list.item, liveItems.get(element), configItems.get(element)));
  };
  let l = 0;
  let r = 0;
  while (l < live.length || r < config.length) {
    const left = liveElements[l] as string;
    const right = configElements[r] as string;
    if (l < live.length && r < config.length) {
      if (left === right) {
        take(left);
        l++;
        r++;
        next++;
        continue;
      }
      if (configItems.has(left) && next < shared.length && shared[next] !== left) {
        // Shared, but another shared item comes first.
        l++;
        continue;
      }
    }
    if (l < live.length) {
      if (!configItems.has(left)) {
        out.push(live[l]);
        l++;
        continue;
      }
      if (merged.has(left)) l++;
    }
    if (r < config.length) {
      take(right);
      r++;
      if (shared[next] === right) next++;
    }
  }
  return out;
}
