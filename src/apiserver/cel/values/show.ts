/** Values as Go's %v prints them in messages. */
import { Type } from '../check/type.ts';
import { formatDuration, formatTime } from './time.ts';
import {
  CelError,
  Duration,
  goFloat,
  List,
  MapValue,
  Optional,
  Timestamp,
  typeName,
  Uint,
  type Value,
} from './value.ts';

export function show(value: Value): string {
  if (value === null) return 'NULL_VALUE';
  if (typeof value === 'number') return goFloat(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof List) return `[${value.toArray().map(show).join(', ')}]`;
  if (value instanceof MapValue) {
    return `{${[...value.keys()].map((key) => `${show(key)}: ${show(value.find(key) as Value)}`).join(', ')}}`;
  }
  if (value instanceof Optional)
    return value.value === undefined ? 'optional.none()' : `optional(${show(value.value)})`;
  if (value instanceof Timestamp) return formatTime(value.nanos);
  if (value instanceof Duration) return formatDuration(value.nanos);
  if (value instanceof Uint8Array) return `[${[...value].join(' ')}]`;
  if (value instanceof CelError) return value.message;
  return value instanceof Type ? value.name : String(value);
}

const GO_TYPES: Record<string, string> = {
  bool: 'types.Bool',
  bytes: 'types.Bytes',
  double: 'types.Double',
  'google.protobuf.Duration': 'types.Duration',
  'google.protobuf.Timestamp': 'types.Timestamp',
  int: 'types.Int',
  list: '*types.baseList',
  map: '*types.baseMap',
  'kubernetes.Quantity': 'cel.Quantity',
  'kubernetes.Semver': 'cel.Semver',
  'kubernetes.URL': 'cel.URL',
  'net.CIDR': 'cel.CIDR',
  'net.IP': 'cel.IP',
  null_type: 'types.Null',
  optional_type: '*types.Optional',
  string: 'types.String',
  type: '*types.Type',
  uint: 'types.Uint',
};

/** What Go calls the type of a value; some messages show that. */
export function goType(value: Value): string {
  return GO_TYPES[typeName(value)] ?? typeName(value);
}
