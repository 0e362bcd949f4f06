/** Types whose JSON form is not the object their protobuf fields make. Undefined means: leave the field out. */
import { MalformedError } from './protobuf-reader.ts';

/** Gets the fields that were read; `bytes` fields come as buffers here. */
export type Shape = (content: Record<string, unknown>, depth: number) => unknown;

/** As deep as the JSON decoder allows. */
export const DEPTH_LIMIT = 200;

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const CRD = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';

export const SHAPES: Record<string, Shape> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': (content) => content.string || '0',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': (content) =>
    content.type === 1 ? (content.strVal ?? '') : (content.intVal ?? 0),
  [`${META}.Time`]: (content) => timestamp(content, false),
  [`${META}.MicroTime`]: (content) => timestamp(content, true),
  [`${META}.Duration`]: (content) => goDuration((content.duration as number | undefined) ?? 0),
  [`${META}.FieldsV1`]: (content, depth) => rawJson(content.Raw, depth),
  'io.k8s.apimachinery.pkg.runtime.RawExtension': (content, depth) => rawJson(content.raw, depth),
  [`${CRD}.JSON`]: (content, depth) => rawJson(content.raw, depth),
  [`${CRD}.JSONSchemaPropsOrArray`]: (content) => content.jSONSchemas ?? content.schema,
  [`${CRD}.JSONSchemaPropsOrBool`]: (content) => content.schema ?? content.allows ?? false,
  [`${CRD}.JSONSchemaPropsOrStringArray`]: (content) => content.property ?? content.schema,
};

/** The way back: the fields of such a value, where it has any. */
export const CONTENTS: Record<string, (value: unknown) => Record<string, unknown> | undefined> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': (value) => ({ string: String(value) }),
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': (value) =>
    typeof value === 'number' ? { type: 0, intVal: value, strVal: '' } : { type: 1, intVal: 0, strVal: String(value) },
  [`${META}.Time`]: moment,
  [`${META}.MicroTime`]: moment,
  [`${META}.Duration`]: (value) => ({ duration: nanosOf(String(value)) }),
  [`${META}.FieldsV1`]: (value) => ({ Raw: jsonBytes(value) }),
  'io.k8s.apimachinery.pkg.runtime.RawExtension': (value) => ({ raw: jsonBytes(value) }),
  [`${CRD}.JSON`]: (value) => ({ raw: jsonBytes(value) }),
  [`${CRD}.JSONSchemaPropsOrArray`]: (value) => (Array.isArray(value) ? { jSONSchemas: value } : { schema: value }),
  [`${CRD}.JSONSchemaPropsOrBool`]: (value) =>
    typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value },
  [`${CRD}.JSONSchemaPropsOrStringArray`]: (value) => (Array.isArray(value) ? { property: value } : { schema: value }),
};

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function moment(value: unknown): Record<string, unknown> | undefined {
  const [, whole = '', fraction = '', zone = ''] = /^(.*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(String(value)) ?? [];
  const seconds = Date.parse(whole + zone) / 1000;
  return Number.isNaN(seconds) ? undefined : { seconds, nanos: Number(fraction.slice(0, 9).padEnd(9, '0')) };
}

/** RFC 3339 in UTC. Go writes a zero time as an empty message. */
function timestamp(content: Record<string, unknown>, micro: boolean): string | undefined {
  if (content.seconds === undefined && content.nanos === undefined) return undefined;
  const seconds = (content.seconds as number | undefined) ?? 0;
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new MalformedError('time: year outside of range [0,9999]');
  const text = date.toISOString().slice(0, 19);
  if (!micro) return `${text}Z`;
  const micros = Math.floor(((content.nanos as number | undefined) ?? 0) / 1000);
  if (micros < 0 || micros > 999_999) throw new MalformedError('time: nanoseconds out of range');
  return `${text}.${String(micros).padStart(6, '0')}Z`;
}

/** As Go's time.Duration prints itself. */
function goDuration(nanos: number): string {
  if (nanos === 0) return '0s';
  const sign = nanos < 0 ? '-' : '';
  const total = Math.abs(nanos);
  if (total < 1e3) return `${sign}${total}ns`;
  if (total < 1e6) return `${sign}${total / 1e3}µs`;
  if (total < 1e9) return `${sign}${total / 1e6}ms`;
  const hours = Math.floor(total / 3.6e12);
  const minutes = Math.floor((total % 3.6e12) / 6e10);
  const seconds = (total % 6e10) / 1e9;
  return `${sign}${hours ? `${hours}h` : ''}${hours || minutes ? `${minutes}m` : ''}${seconds}s`;
}

const UNIT_NANOS: Record<string, number> = { h: 3.6e12, m: 6e10, s: 1e9, ms: 1e6, us: 1e3, µs: 1e3, ns: 1 };

function nanosOf(duration: string): number {
  let nanos = 0;
  for (const [, amount, unit] of duration.matchAll(/([\d.]+)(ns|us|µs|ms|h|m|s)/g)) {
    nanos += Number(amount) * (UNIT_NANOS[unit as string] as number);
  }
  return Math.round(duration.startsWith('-') ? -nanos : nanos);
}

/** Clients put JSON into raw fields, whatever the encoding around it. */
function rawJson(raw: unknown, depth: number): unknown {
  if (!Buffer.isBuffer(raw) || raw.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(raw.toString('utf8'));
  } catch (error) {
    throw new MalformedError(`raw JSON: ${(error as Error).message}`);
  }
  checkDepth(value, depth);
  return value;
}

function checkDepth(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > DEPTH_LIMIT) throw new MalformedError('exceeded max depth');
  for (const item of Object.values(value)) checkDepth(item, depth + 1);
}
