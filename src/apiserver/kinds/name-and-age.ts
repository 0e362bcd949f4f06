/** The printer of kinds that have no better one. */
import type { KubeObject } from '../../api/object.ts';
import { age } from '../builtins/duration.ts';
import type { Printer } from '../resource.ts';

export const nameAndAge: Printer = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: 'Name of the object.', priority: 0 },
    { name: 'Age', type: 'string', description: 'Time since the object was created.', priority: 0 },
  ],
  cells: (object: KubeObject, now: number) => [object.metadata.name ?? '', age(object.metadata.creationTimestamp, now)],
};
