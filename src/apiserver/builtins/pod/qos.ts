/** The quality-of-service class of a pod, set once by the API server (pkg/apis/core/v1/helper/qos). */
import { type Any, items } from '../fields.ts';
import { addQuantity, compareQuantity, type Quantity, ZERO } from '../quantity.ts';
import { readQuantity } from '../resource-list.ts';

const COUNTED = ['cpu', 'memory'];

function addTo(sums: Record<string, Quantity>, list: Any): Set<string> {
  const found = new Set<string>();
  for (const name of COUNTED) {
    const quantity = readQuantity(list?.[name]);
    if (!quantity || quantity.nano <= 0n) continue;
    found.add(name);
    sums[name] = addQuantity(sums[name] ?? ZERO, quantity);
  }
  return found;
}

export function qosClass(spec: Any): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const requests: Record<string, Quantity> = {};
  const limits: Record<string, Quantity> = {};
  let guaranteed = true;
  const holders = spec?.resources ? [spec] : [...items(spec?.containers), ...items(spec?.initContainers)];
  for (const holder of holders) {
    addTo(requests, holder.resources?.requests);
    if (addTo(limits, holder.resources?.limits).size < COUNTED.length) guaranteed = false;
  }
  const requested = Object.keys(requests);
  const limited = Object.keys(limits);
  if (requested.length === 0 && limited.length === 0) return 'BestEffort';
  const equal = requested.every(
    (name) => limits[name] && compareQuantity(limits[name], requests[name] as Quantity) === 0,
  );
  return guaranteed && equal && requested.length === limited.length ? 'Guaranteed' : 'Burstable';
}
