import { describe, expect, it } from 'vitest';
import { withRun } from './document.ts';
import { type GinkgoReport, outcomesOf } from './outcome.ts';
import { focusOn, isSerial, type Spec, specsOf } from './spec-list.ts';

const spec = (name: string): Spec => ({ name, tier: 'a' });
const entry = (name: string, State: string, Message?: string) => ({
  LeafNodeType: 'It',
  LeafNodeText: name.split(' ').slice(1).join(' '),
  ContainerHierarchyTexts: [name.split(' ')[0] as string],
  State,
  RunTime: 2_000_000_000,
  ...(Message ? { Failure: { Message } } : {}),
});

describe('the lists of upstream specs', () => {
  it('hold the tiers whole, each name once and sorted', () => {
    const [a, b] = [specsOf('a'), specsOf('b')];
    expect([a.length, b.length]).toEqual([127, 86]);
    const names = [...a, ...b].map(({ name }) => name);
    expect(new Set(names).size).toBe(213);
    expect(names.every((name) => name.startsWith('[sig-') && name.includes('[Conformance]'))).toBe(true);
    expect(a.filter(isSerial)).toHaveLength(5);
  });

  it('are found by their whole name, whatever signs it contains', () => {
    const focus = new RegExp(focusOn([spec('[sig-a] works (really). [Conformance]')]));
    expect(focus.test('Kubernetes e2e suite [sig-a] works (really). [Conformance]')).toBe(true);
    expect(focus.test('Kubernetes e2e suite [sig-a] works (really). [Conformance] twice')).toBe(false);
    expect(focus.test('Kubernetes e2e suite [sig-a] works (really)! [Conformance]')).toBe(false);
  });
});

describe('outcomes', () => {
  const specs = ['[x] one', '[x] two', '[x] three'].map(spec);

  it('say of each spec whether it passed, and the first telling line of why not', () => {
    const message =
      'Unexpected error:\n    <*errors.StatusError | 0xc0001>: \n    pods "p" in ns-4242 not found after 5m0s\n    {\n';
    const report: GinkgoReport = [
      { SpecReports: [entry('[x] one', 'passed'), entry('[x] two', 'failed', message), entry('[x] three', 'skipped')] },
    ];
    const [one, two, three] = outcomesOf(specs, report);
    expect(one).toMatchObject({ passed: true, why: '', seconds: 2 });
    expect(two).toMatchObject({ passed: false, why: 'pods "p" in ns-<n> not found after <duration>' });
    expect(three).toMatchObject({ passed: false });
    expect(three?.why).toContain('not run');
  });

  it('name what kept all specs from running', () => {
    const before = { ...entry('[x] before', 'failed', 'no node is ready'), LeafNodeType: 'SynchronizedBeforeSuite' };
    expect(outcomesOf(specs, [{ SpecReports: [before] }]).map(({ why }) => why)).toEqual(
      specs.map(() => 'not run: SynchronizedBeforeSuite: no node is ready'),
    );
    expect(outcomesOf(specs, undefined).every(({ passed, why }) => !passed && why.includes('stopped'))).toBe(true);
  });
});

describe('docs/conformance.md', () => {
  const document = 'by hand\n<!-- tier a: written by make conformance -->\nold\n<!-- end of tier a -->\nalso by hand\n';

  it('gets a tier’s run between its marks, and keeps the rest', () => {
    const outcomes = outcomesOf(
      [spec('[x] one'), spec('[x] two')],
      [{ SpecReports: [entry('[x] one', 'passed'), entry('[x] two', 'failed', 'a | b')] }],
    );
    const written = withRun(document, { tier: 'a', outcomes, about: 'today' });
    expect(written).toMatch(/^by hand\n/);
    expect(written).toMatch(/\nalso by hand\n$/);
    expect(written).not.toContain('old');
    expect(written).toContain('**1 of 2 pass**');
    expect(written).toContain('| [x] two | a \\| b |');
    expect(written).toContain('- [x] one');
    expect(withRun(written, { tier: 'a', outcomes, about: 'today' })).toBe(written);
  });

  it('is not guessed at when the marks are gone', () => {
    expect(() => withRun('nothing', { tier: 'a', outcomes: [], about: '' })).toThrow('lost its marks');
  });
});
