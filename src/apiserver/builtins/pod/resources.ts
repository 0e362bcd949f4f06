/** What a pod asks for as a whole: containers and sidecars together, or its hungriest init step, plus overhead. */
import { type Any, items } from '../fields.ts';
import { addQuantity, compareQuantity, type Quantity, ZERO } from '../quantity.ts';
import { readQuantity } from '../resource-list.ts';

export type Resources = Record<string, Quantity>;

export function readResources(list: Any): Resources {
  const found: Resources = {};
  for (const [name, value] of Object.entries(list ?? {})) {
    const quantity = readQuantity(value);
    if (quantity) found[name] = quantity;
  }
  return found;
}

function add(to: Resources, list: Resources): void {
  for (const [name, quantity] of Object.entries(list)) to[name] = addQuantity(to[name] ?? ZERO, quantity);
}

function max(to: Resources, list: Resources): void {
  for (const [name, quantity] of Object.entries(list)) {
    const current = to[name];
    if (!current || compareQuantity(quantity, current) > 0) to[name] = quantity;
  }
}

export function podResources(spec: Any, which: 'requests' | 'limits'): Resources {
  const total: Resources = {};
  for (const container of items(spec?.containers)) add(total, readResources(container.resources?.[which]));
  const sidecars: Resources = {};
  const init: Resources = {};
  for (const container of items(spec?.initContainers)) {
    const own = readResources(container.resources?.[which]);
    if (container.restartPolicy === 'Always') {
      add(sidecars, own);
      add(total, own);
      max(init, sidecars);
    } else {
      const step = { ...sidecars };
      add(step, own);
      max(init, step);
    }
  }
  max(total, init);
  // Pod-level numbers replace the sum.
  Object.assign(total, readResources(spec?.resources?.[which]));
  const overhead = readResources(spec?.overhead);
  for (const [name, quantity] of Object.entries(overhead)) {
    if (which === 'requests' || total[name]) total[name] = addQuantity(total[name] ?? ZERO, quantity);
  }
  return total;
}
