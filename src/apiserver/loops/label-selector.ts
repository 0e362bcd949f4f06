/** Whether a LabelSelector object (matchLabels, matchExpressions) selects a set of labels. An empty one selects all. */
import { own } from '../json.ts';
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export function matchesLabels(selector: LabelSelector, labels: Record<string, string>): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) if (own(labels, key) !== value) return false;
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const value = own(labels, key);
    if (operator === 'In' && (value === undefined || !values.includes(value))) return false;
    if (operator === 'NotIn' && value !== undefined && values.includes(value)) return false;
    if (operator === 'Exists' && value === undefined) return false;
    if (operator === 'DoesNotExist' && value !== undefined) return false;
  }
  return true;
}
