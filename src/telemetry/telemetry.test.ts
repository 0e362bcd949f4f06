import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  createMetrics,
  jsonLogger,
  type LogLine,
  loggerOf,
  noMetrics,
  redact,
  redactText,
  silentLogger,
  terminalLogger,
} from './index.ts';

const KEY = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----';
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';

describe('redact', () => {
  it('hides by name, and leaves names of things', () => {
    const fields = {
      token: 'x',
      'client-key-data': 'x',
      Authorization: 'x',
      kubeconfig: 'x',
      private_key: 'x',
      password: '',
    };
    const hidden = redact(fields) as Record<string, string>;
    expect(hidden).toEqual({
      ...Object.fromEntries(Object.keys(fields).map((name) => [name, '[redacted]'])),
      password: '',
    });
    const open = { secretName: 'demo-config', tokenFile: '/t', key: 'n/a', secrets: 3, passwordPolicy: 'long' };
    expect(redact(open)).toEqual(open);
  });

  it('hides the data of Secrets wherever they are, keeping the keys', () => {
    const secret = { kind: 'Secret', metadata: { name: 's' }, data: { value: 'c2VjcmV0' }, stringData: { a: 'b' } };
    const shown = JSON.stringify(redact({ deep: [{ object: secret }] }));
    expect(shown).not.toContain('c2VjcmV0');
    expect(shown).toContain('"value":"[redacted]"');
    expect(redact({ kind: 'ConfigMap', data: { a: 'b' } })).toEqual({ kind: 'ConfigMap', data: { a: 'b' } });
  });

  it('hides by look, in texts, errors and their causes', () => {
    for (const secret of [
      KEY,
      JWT,
      'Bearer abcdef123456',
      'token: abcdef123456',
      'client-key-data: LS0tLS1CRUdJTg==',
      'abcdef.0123456789abcdef',
    ]) {
      const payload = secret.replace(/^(Bearer |token: |client-key-data: )/, '');
      expect(redactText(`before ${secret} after`)).not.toContain(payload);
      expect(redactText(`before ${secret} after`)).toContain('before');
      const error = new Error(`failed with ${secret}`, { cause: new Error(secret) });
      expect(JSON.stringify(redact({ error }))).not.toContain(payload.slice(0, 20));
    }
    expect(redactText('the bearer of bad news')).toBe('the bearer of bad news');
  });

  it('survives anything', () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(() =>
      JSON.stringify(
        redact({ circular, big: 1n, map: new Map([['a', 1]]), bytes: Buffer.from('abc'), date: new Date(0) }),
      ),
    ).not.toThrow();
  });
});

describe('log', () => {
  it('adds the fields of children and redacts everything', () => {
    const lines: LogLine[] = [];
    const log = loggerOf((line) => lines.push(line))
      .child({ controller: 'x' })
      .child({ token: 't' });
    log.info(`joined with ${JWT}`, { a: 1 });
    expect(lines).toEqual([
      { level: 'info', message: 'joined with [redacted]', fields: { controller: 'x', token: '[redacted]', a: 1 } },
    ]);
    silentLogger.child({}).error('nothing');
  });

  it('writes JSON lines of its level and above', async () => {
    let text = '';
    const destination = {
      write(line: string) {
        text += line;
      },
    };
    const log = jsonLogger({ level: 'info', destination, fields: { app: 'rookery' } });
    log.debug('hidden');
    log.warn('shown', { error: new Error('oops') });
    const [line, ...rest] = text
      .trim()
      .split('\n')
      .map((entry) => JSON.parse(entry));
    expect(rest).toEqual([]);
    expect(line).toMatchObject({ msg: 'shown', app: 'rookery', error: { name: 'Error', message: 'oops' } });
    expect(line.time).toMatch(/^\d{4}-/);
  });
});

describe('metrics', () => {
  it('renders counters, gauges and histograms, one for each name', async () => {
    const metrics = createMetrics();
    metrics.counter('a_total', 'help', ['x']).inc({ x: 'y' });
    metrics.counter('a_total', 'help', ['x']).inc({ x: 'y' }, 2);
    metrics.gauge('b', 'help').set(5);
    metrics.gauge('b', 'help').add(-1);
    metrics.histogram('c_seconds', 'help').observe(0.003);
    const { body, contentType } = metrics.render();
    expect(contentType).toContain('text/plain');
    expect(body).toContain('a_total{x="y"} 3');
    expect(body).toContain('\nb 4');
    expect(body).toContain('c_seconds_bucket{le="0.005"} 1');
    expect(body).toContain('c_seconds_bucket{le="0.001"} 0');
    expect(body).toContain('c_seconds_bucket{le="+Inf"} 1\nc_seconds_sum 0.003\nc_seconds_count 1\n');
    expect(noMetrics.render().body).toBe('');
  });

  it('escapes what would break a line, and counts from nothing', () => {
    const metrics = createMetrics();
    metrics.counter('d_total', 'two\nlines');
    metrics.counter('e_total', 'help', ['x', 'y']).inc({ y: 'b', x: 'say "a\\"\n' });
    expect(metrics.render().body).toBe(
      '# HELP d_total two\\nlines\n# TYPE d_total counter\nd_total 0\n# HELP e_total help\n# TYPE e_total counter\ne_total{x="say \\"a\\\\\\"\\n",y="b"} 1\n',
    );
  });
});

it('loses lines that cannot be written, never throws, and says how many when it can write again', () => {
  const written: string[] = [];
  let isFull = false;
  const write = (line: string) => {
    // The real thing: every write to this device says that there is no room.
    if (isFull) writeFileSync('/dev/full', line);
    written.push(line);
  };
  for (const log of [jsonLogger({ destination: { write } }), terminalLogger('info', write)]) {
    written.length = 0;
    log.info('one');
    isFull = true;
    for (let i = 0; i < 3; i++) log.info('lost');
    isFull = false;
    log.info('two');
    expect(written).toHaveLength(3);
    expect(written[1]).toMatch(/^\n.*3 lines of the log were lost/);
    expect(written[2]).toContain('two');
  }
});
