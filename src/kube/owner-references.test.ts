import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import {
  controllerOf,
  isControlledBy,
  isOwnedBy,
  ownerReference,
  withController,
  withOwner,
  withoutOwner,
} from './owner-references.ts';

const make = (kind: string, name: string, namespace: string | undefined = 'n', version = 'v1'): KubeObject => ({
  apiVersion: `test.dev/${version}`,
  kind,
  metadata: { name, namespace, uid: `${kind}-${name}` },
});

describe('owner references', () => {
  it('name the one controller', () => {
    const owner = make('Nest', 'a');
    const egg = withController(make('Egg', 'e'), owner);
    expect(controllerOf(egg)).toEqual({
      apiVersion: 'test.dev/v1',
      kind: 'Nest',
      name: 'a',
      uid: 'Nest-a',
      controller: true,
      blockOwnerDeletion: true,
    });
    expect(isControlledBy(egg, owner)).toBe(true);
    expect(() => withController(egg, make('Nest', 'b'))).toThrow(/already controlled by Nest a/);
    expect(withController(egg, owner)).toEqual(egg);
  });

  it('are one for each owner, whatever its version', () => {
    const old = withOwner(make('Egg', 'e'), ownerReference(make('Nest', 'a', 'n', 'v1alpha1')));
    const both = withOwner(old, ownerReference(make('Tree', 't')));
    const renewed = withOwner(both, ownerReference(make('Nest', 'a')));
    expect(renewed.metadata.ownerReferences?.map((owner) => owner.apiVersion)).toEqual(['test.dev/v1', 'test.dev/v1']);
    expect(isOwnedBy(withoutOwner(renewed, { uid: 'Tree-t' }), make('Tree', 't'))).toBe(false);
  });

  it('do not cross namespaces, but a cluster-scoped owner may own anything', () => {
    expect(() => withController(make('Egg', 'e', 'other'), make('Nest', 'a'))).toThrow(/outside its namespace/);
    const clusterScoped = make('Nest', 'a');
    clusterScoped.metadata.namespace = undefined;
    expect(isControlledBy(withController(make('Egg', 'e'), clusterScoped), clusterScoped)).toBe(true);
  });

  it('want an owner that exists', () => {
    expect(() => ownerReference({ apiVersion: 'v1', kind: 'Nest', metadata: { name: 'a' } })).toThrow(/no name or uid/);
  });
});
