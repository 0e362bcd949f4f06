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
