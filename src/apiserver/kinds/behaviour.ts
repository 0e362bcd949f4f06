/** Stands in for builtins/index.ts until that lands. */
import type { KubeObject } from '../../api/object.ts';
import type { Printer, ScalePaths, Strategy } from '../resource.ts';

export const strategyOf = (_group: string, _kind: string): Strategy => ({});
export const printerOf = (_group: string, _kind: string): Printer | undefined => undefined;
export const selectableFieldsOf = (_g: string, _k: string): Record<string, (object: KubeObject) => string> => ({});
export const scaleOf = (_group: string, _kind: string): ScalePaths | undefined => undefined;
export const convertOf = (
  _group: string,
  _kind: string,
): ((object: KubeObject, toVersion: string) => void) | undefined => undefined;
