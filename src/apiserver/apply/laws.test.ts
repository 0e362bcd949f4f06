/** What holds for server-side apply whatever is applied. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { applyConfiguration } from './apply-configuration.ts';
import { difference, type FieldSet, has, isEmpty, paths, union } from './field-set.ts';
import { recordUpdate } from './record-update.ts';
import { API_VERSION, at, thing, thingSchema } from './thing.fixture.ts';
import { toFieldSet } from './to-field-set.ts';
import { typeOf } from './type.ts';

const word = fc.constantFrom('x', 'y', 'z');
const spec = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 3 }),
    name: word,
    args: fc.array(word, { maxLength: 2 }),
    tags: fc.uniqueArray(word),
    selector: fc.dictionary(word, word),
    options: fc.dictionary(word, word),
    ports: fc.uniqueArray(
      fc.record(
        { port: fc.constantFrom(80, 443), protocol: fc.constantFrom('TCP', 'UDP'), name: word },
        { requiredKeys: ['port'] },
      ),
      { selector: ({ port, protocol = 'TCP' }) => `${port} ${protocol}` },
    ),
    free: fc.dictionary(word, fc.oneof(word, fc.array(word, { maxLength: 2 }), fc.dictionary(word, word))),
  },
  { requiredKeys: [] },
);

const base = { schema: thingSchema, apiVersion: API_VERSION, subresource: '', now: at(0) };

function apply(live: KubeObject | undefined, config: KubeObject, manager: string): KubeObject {
  const result = applyConfiguration({ ...base, live, config, manager, force: true });
  return { ...result, metadata: { ...result.metadata, uid: 'u' } };
}

function update(live: KubeObject | undefined, object: KubeObject, manager: string): KubeObject {
  const managedFields = recordUpdate({ ...base, live, object, manager });
  return { ...object, metadata: { ...object.metadata, uid: 'u', managedFields } };
}

function ownedBy(object: KubeObject, manager: string): FieldSet {
  const entry = object.metadata.managedFields?.find((each) => each.manager === manager);
  return (entry?.fieldsV1 ?? {}) as FieldSet;
}

function fieldsOf(object: KubeObject): FieldSet {
  return toFieldSet(typeOf(thingSchema), object);
}

describe('server-side apply', () => {
  it('done twice is done once', () => {
    fc.assert(
      fc.property(spec, spec, (before, config) => {
        const once = apply(update(undefined, thing(before), 'u'), thing(config), 'a');
        expect(
          applyConfiguration({ ...base, live: once, config: thing(config), manager: 'a', force: false, now: at(9) }),
        ).toEqual(once);
      }),
    );
  });

  it('ends with everything the configuration says in the object, and owned by its applier', () => {
    fc.assert(
      fc.property(spec, spec, spec, (before, earlier, config) => {
        const object = apply(apply(update(undefined, thing(before), 'u'), thing(earlier), 'a'), thing(config), 'a');
        for (const key of ['replicas', 'name', 'args', 'selector'] as const) {
          if (config[key] !== undefined) expect(object.spec[key]).toEqual(config[key]);
        }
        expect(isEmpty(difference(fieldsOf(thing(config)), union(ownedBy(object, 'a'), IDENTITY)))).toBe(true);
      }),
    );
  });

  it('of nothing removes only what the applier alone owned', () => {
    fc.assert(
      fc.property(spec, spec, spec, (before, mine, theirs) => {
        const updated = update(undefined, thing(before), 'u');
        const object = apply(apply(updated, thing(mine), 'a'), thing(theirs), 'b');
        const gone = difference(fieldsOf(object), fieldsOf(apply(object, thing(), 'a')));
        const other = union(ownedBy(object, 'b'), ownedBy(object, 'u'));
        for (const path of paths(gone)) {
          expect(has(ownedBy(object, 'a'), path)).toBe(true);
          expect(has(other, path)).toBe(false);
        }
      }),
    );
  });

  it('leaves no owner of what is not there', () => {
    fc.assert(
      fc.property(spec, spec, spec, (before, config, after) => {
        const applied = apply(update(undefined, thing(before), 'u'), thing(config), 'a');
        const object = update(applied, thing(after), 'u');
        const there = fieldsOf(object);
        for (const path of paths(union(ownedBy(object, 'a'), ownedBy(object, 'u')))) {
          let at: FieldSet | undefined = there;
          for (const element of path) at = at?.[element] ?? emptyLists(at, object, path);
          expect(at).toBeDefined();
        }
      }),
    );
  });
});

const IDENTITY: FieldSet = { 'f:apiVersion': {}, 'f:kind': {}, 'f:metadata': { 'f:name': {} } };

/** Empty lists are there and may be owned, but hold nothing toFieldSet mentions. */
function emptyLists(_at: FieldSet | undefined, object: KubeObject, path: string[]): FieldSet | undefined {
  let value: unknown = object;
  for (const element of path) value = (value as Record<string, unknown> | undefined)?.[element.slice(2)];
  return Array.isArray(value) && value.length === 0 ? {} : undefined;
}
