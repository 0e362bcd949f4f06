import { describe, expect, it } from 'vitest';
import { warningHeaders } from './warning-headers.ts';

const utf8 = (header: string) => Buffer.from(header, 'latin1').toString();

describe('warningHeaders', () => {
  it('says each once, quoted', () => {
    expect(warningHeaders(['a', 'b', 'a', ''])).toEqual(['299 - "a"', '299 - "b"']);
    expect(warningHeaders(['unknown field "spec.a\\b"'])).toEqual(['299 - "unknown field \\"spec.a\\\\b\\""']);
  });

  it('keeps letters of all scripts, drops what no header can hold', () => {
    expect(warningHeaders(['größer 🐦', 'two\nlines']).map(utf8)).toEqual(['299 - "größer 🐦"']);
  });

  it('shortens all when they are too long together, and stops at the limit', () => {
    const long = (letter: string, length: number) => letter.repeat(length);
    expect(warningHeaders([long('a', 4096)])[0]).toHaveLength(4096 + 8);
    expect(warningHeaders([long('a', 4000), long('b', 97)])).toEqual([
      `299 - "${long('a', 256)}"`,
      `299 - "${long('b', 97)}"`,
    ]);
    const many = Array.from({ length: 100 }, (_, i) => `${i}${long('x', 300)}`);
    expect(warningHeaders(many)).toHaveLength(16);
    expect(warningHeaders([long('🐦', 5000)]).map(utf8)).toEqual([`299 - "${long('🐦', 256)}"`]);
  });
});
