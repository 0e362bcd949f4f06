import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../clock.ts';
import { Exchange } from './exchange.ts';

/** An exchange whose client left before its answer began. */
function abandoned(acceptEncoding: string): Exchange {
  const response = new PassThrough({ highWaterMark: 1 });
  response.on('error', () => {});
  response.destroy();
  // As of HTTP/2: it has ended, and does not say that it is destroyed.
  const request = new PassThrough({ autoDestroy: false });
  Object.assign(request, { headers: { 'accept-encoding': acceptEncoding }, method: 'GET', url: '/' });
  return new Exchange(request as never, response as never, systemRandom);
}

describe('the body of a client that has left', () => {
  it('is not waited for', async () => {
    await expect(abandoned('identity').body()).rejects.toThrow('unexpected EOF');
  });
});

describe('an answer to a client that has left', () => {
  it.each(['identity', 'gzip'])('is not waited for (%s)', async (encoding) => {
    const exchange = abandoned(encoding);
    await new Promise((resolve) => setImmediate(resolve));
    const out = exchange.stream(200, 'application/json');
    for (let i = 0; i < 3; i++) await out.write('x'.repeat(1_000_000));
    out.end();
    expect(exchange.isGone).toBe(true);
  });
});
