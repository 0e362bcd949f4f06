import { describe, expect, it } from 'vitest';
import { ApiError } from '../status.ts';
import { negotiate, type Offer } from './accept.ts';

const ALL: Offer = { shapes: ['object', 'Table', 'PartialObjectMetadata'] };
const CUSTOM: Offer = { ...ALL, custom: true };
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const table = 'as=Table;g=meta.k8s.io;v=v1';
const partial = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

function form(header: string | undefined, offer = ALL): string {
  try {
    const { encoding, shape } = negotiate(header, offer);
    return `${encoding} ${shape}`;
  } catch (error) {
    return (error as ApiError).message;
  }
}

const REFUSED =
  'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';

describe('negotiate', () => {
  it.each([
    [undefined, 'json object'],
    ['', 'json object'],
    ['*/*', 'json object'],
    ['application/*', 'json object'],
    ['application/yaml', 'yaml object'],
    ['text/plain, application/yaml;q=0.5', 'yaml object'],
    ['*/*, application/yaml', 'yaml object'],
    ['application/json;q=0.1, application/yaml', 'yaml object'],
    [`application/json;${table}, application/json`, 'json Table'],
    ['application/json;as=Table, application/json', 'json object'],
    ['application/json;as=Table;g=meta.k8s.io;v=v2, application/json', 'json object'],
    ['application/json;v=v1', REFUSED],
    ['application/json;stream=other', REFUSED],
    [`application/yaml;${partial}`, 'yaml PartialObjectMetadata'],
    ['text/plain', REFUSED],
  ])('%s → %s', (header, expected) => expect(form(header)).toBe(expected));

  it('gives protobuf only where the same is not wanted as JSON', () => {
    expect(form(PROTOBUF)).toBe('protobuf object');
    expect(form(`${PROTOBUF},application/json`)).toBe('json object');
    expect(form(`${PROTOBUF}, */*`)).toBe('json object');
    expect(form(`${PROTOBUF}, application/yaml`)).toBe('protobuf object');
    expect(form(`${PROTOBUF};${partial},application/json;${partial},application/json`)).toBe(
      'json PartialObjectMetadata',
    );
    expect(form(`${PROTOBUF};${partial},application/json`)).toBe('protobuf PartialObjectMetadata');
    expect(form(`${PROTOBUF};${table}`)).toBe(REFUSED);
  });

  it('has no protobuf of custom resources, but of their metadata', () => {
    expect(form(PROTOBUF, CUSTOM)).toBe(REFUSED);
    expect(form(`${PROTOBUF}, application/yaml`, CUSTOM)).toBe('yaml object');
    expect(form(`${PROTOBUF};${partial}`, CUSTOM)).toBe('protobuf PartialObjectMetadata');
  });

  it('cuts no YAML into events', () => {
    const stream = { ...ALL, stream: true };
    expect(form('application/yaml', stream)).toBe(
      'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    );
    expect(form(`${PROTOBUF};stream=watch`, stream)).toBe('protobuf object');
    expect(form('application/json;stream=watch', stream)).toBe('json object');
  });

  it('refuses with a Status', () => {
    expect(() => negotiate('text/html', ALL)).toThrow(ApiError);
  });
});
