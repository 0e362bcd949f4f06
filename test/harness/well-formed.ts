// Whatever a server answers must be what its headers say it is, and a failure must be one a client can read.
import { expect } from 'vitest';
import { parse } from 'yaml';
import { decodeProtobuf } from '../../src/apiserver/codec/protobuf.ts';
import type { Answer } from './http.ts';

// biome-ignore lint/suspicious/noExplicitAny: whatever was answered
export function contentOf({ headers, body, text }: Answer): any {
  switch (headers['content-type']) {
    case 'application/json':
      return JSON.parse(text);
    case 'application/yaml':
      return parse(text);
    case 'application/vnd.kubernetes.protobuf':
      return decodeProtobuf(body);
    default:
      return text;
  }
}

/** A failure is a Status, or the one page there is not; none is our own fault. */
export function expectReadable(answer: Answer, method: string, said: string): void {
  const { status } = answer;
  expect(answer.headers['audit-id'], said).toBeTruthy();
  if (status < 400 || method === 'HEAD') return;
  const content = contentOf(answer);
  if (typeof content === 'string') {
    expect([status, content], said).toEqual([404, '404 page not found\n']);
    return;
  }
  expect(content, said).toMatchObject({ kind: 'Status', code: status });
  // Some mistakes upstream answers with a 500 that has no reason; one of ours would be an InternalError.
  if (status >= 500 && status !== 501 && status !== 504) expect(content.reason, said).toBeUndefined();
}
