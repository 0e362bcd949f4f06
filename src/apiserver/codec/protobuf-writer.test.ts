import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Reader } from './protobuf-reader.ts';
import { Writer } from './protobuf-writer.ts';

describe('Writer', () => {
  it('is read back, whatever is written', () => {
    const int = fc.maxSafeInteger();
    const number = fc.integer({ min: 1, max: 2 ** 29 - 1 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(number, int, fc.string({ unit: 'binary', maxLength: 200 }), fc.double())),
        (rows) => {
          const writer = new Writer();
          for (const [at, whole, text, real] of rows.toReversed()) {
            const mark = writer.length;
            writer.double(3, real);
            writer.string(2, text);
            writer.int(1, whole);
            writer.close(at, mark);
          }
          const reader = new Reader(writer.finish(), 0);
          for (const [at, whole, text, real] of rows) {
            expect(reader.uint32()).toBe(at * 8 + 2);
            const inner = new Reader(reader.bytes(), 0);
            expect([inner.uint32(), inner.int64()]).toEqual([8, whole]);
            // A lone surrogate has no UTF-8.
            expect([inner.uint32(), inner.string()]).toEqual([18, Buffer.from(text).toString()]);
            expect([inner.uint32(), inner.double()]).toEqual([25, real]);
          }
          expect(reader.position).toBe(reader.end);
        },
      ),
      { seed: 7 },
    );
  });

  it('grows, and starts anew after it was finished', () => {
    const writer = new Writer();
    for (let i = 0; i < 3; i++) writer.bytes(1, Buffer.alloc(5000, i));
    expect(writer.finish().length).toBe(3 * 5003);
    writer.bool(1, true);
    expect(writer.finish()).toEqual(Buffer.from([8, 1]));
  });
});
