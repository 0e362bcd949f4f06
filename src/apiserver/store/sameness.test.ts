import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { same } from './sameness.ts';
import { Version } from './version.ts';

const key = { resource: 'configmaps', namespace: 'n', name: 'a' };

function isSame(stored: unknown, object: unknown): boolean {
  return same(new Version(key, 1, JSON.stringify(stored)), object as KubeObject, JSON.stringify(object));
}

const entry = { manager: 'm', time: '2026-11-15T12:00:00Z', fieldsV1: { 'f:data': {} } };
const stored = { kind: 'ConfigMap', metadata: { name: 'a', managedFields: [entry] }, data: { a: '1', b: '2' } };

test('neither the order of keys nor the times of managedFields count', () => {
  const later = { ...entry, time: '2026-11-15T12:00:01Z' };
  expect(isSame(stored, { metadata: stored.metadata, data: { b: '2', a: '1' }, kind: 'ConfigMap' })).toBe(true);
  expect(isSame(stored, { ...stored, metadata: { name: 'a', managedFields: [later] } })).toBe(true);
});

test('what is undefined is absent', () => {
  expect(isSame(stored, { immutable: undefined, ...stored })).toBe(true);
  expect(isSame(stored, { data: { b: '2', a: '1', c: undefined }, kind: 'ConfigMap', metadata: stored.metadata })).toBe(
    true,
  );
});

test('a change of equal length is a change', () => {
  expect(isSame(stored, { ...stored, data: { a: '1', b: '3' } })).toBe(false);
  expect(isSame(stored, { ...stored, data: { a: '1', c: '2' } })).toBe(false);
  expect(isSame(stored, { ...stored, metadata: { name: 'b', managedFields: [entry] } })).toBe(false);
  // A time anywhere else is a value like any other.
  const timed = { ...stored, data: { time: '1' } };
  expect(isSame(timed, { ...timed, data: { time: '2' } })).toBe(false);
});
