/** Which form of an answer a client wants: the `Accept` header of Kubernetes clients, with its `as=` parameters. */
import { notAcceptable } from '../status.ts';

export type Shape = 'object' | 'Table' | 'PartialObjectMetadata';

export interface Accepted {
  encoding: 'json' | 'yaml' | 'protobuf';
  shape: Shape;
  /** Version of meta.k8s.io of a Table or PartialObjectMetadata. */
  version: string;
  /** Indented text was asked for. */
  pretty: boolean;
}

/** What can be given. */
export interface Offer {
  shapes: readonly Shape[];
  /** Custom resources have no protobuf form; their metadata has. */
  custom?: boolean;
  /** A watch: YAML cannot be cut into events. */
  stream?: boolean;
}

export interface MediaRange {
  type: string;
  parameters: Record<string, string>;
}

const PLAIN: Accepted = { encoding: 'json', shape: 'object', version: 'v1', pretty: false };
const SUPPORTED = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const SUPPORTED_STREAMS = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const cache = new Map<string, MediaRange[]>();

/** In order of preference. Clients send few different headers: remembered, bounded. */
export function parseAccept(header: string | undefined): MediaRange[] {
  const text = header?.trim() ?? '';
  const known = cache.get(text);
  if (known) return known;
  const ranges = text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [type = '', ...rest] = part.split(';').map((piece) => piece.trim());
      const parameters: Record<string, string> = Object.create(null);
      for (const pair of rest) {
        const at = pair.indexOf('=');
        if (at > 0) parameters[pair.slice(0, at).toLowerCase()] = pair.slice(at + 1).replace(/^"|"$/g, '');
      }
      return { type: type.toLowerCase(), parameters };
    })
    .map((range, index) => ({ range, index, quality: Number(range.parameters.q ?? 1) || 0 }))
    .sort((a, b) => b.quality - a.quality || breadth(a.range) - breadth(b.range) || a.index - b.index)
    .map(({ range }) => range);
  if (cache.size > 500) cache.clear();
  cache.set(text, ranges);
  return ranges;
}

/** `*` stands behind what is named. */
function breadth({ type }: MediaRange): number {
  return type === '*/*' ? 2 : type.endsWith('/*') ? 1 : 0;
}

/**
 * The first form we can give; 406 when there is none. What is stored is JSON: making protobuf of it takes this process
 * forty times as long (and half the bytes), so where a client takes the same as JSON too, though it would rather have
 * protobuf, it gets JSON.
 */
export function negotiate(header: string | undefined, offer: Offer): Accepted {
  const ranges = parseAccept(header);
  if (ranges.length === 0) return PLAIN;
  let first: Accepted | undefined;
  for (const range of ranges) {
    const accepted = acceptedOf(range, offer);
    if (!accepted) continue;
    if (accepted.encoding === 'protobuf') first ??= accepted;
    else if (!first) return accepted;
    else if (accepted.encoding === 'json' && accepted.shape === first.shape) return accepted;
  }
  if (!first) throw notAcceptable(offer.stream ? SUPPORTED_STREAMS : SUPPORTED);
  return first;
}

function acceptedOf({ type, parameters }: MediaRange, { shapes, custom, stream }: Offer): Accepted | undefined {
  const encoding = encodingOf(type);
  if (!encoding || (encoding === 'yaml' && stream)) return undefined;
  if (parameters.stream && (parameters.stream !== 'watch' || encoding === 'yaml')) return undefined;
  const shape = shapeOf(parameters);
  if (!shape || !shapes.includes(shape)) return undefined;
  if (encoding === 'protobuf' && (shape === 'Table' || (shape === 'object' && custom))) return undefined;
  return { encoding, shape, version: parameters.v ?? 'v1', pretty: parameters.pretty === '1' };
}

function shapeOf({ as, g, v }: Record<string, string>): Shape | undefined {
  if (as === undefined && g === undefined && v === undefined) return 'object';
  if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined;
  if (as === 'Table') return 'Table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'PartialObjectMetadata' : undefined;
}

function encodingOf(type: string): Accepted['encoding'] | undefined {
  switch (type) {
    case 'application/json':
    case 'application/*':
    case '*/*':
      return 'json';
    case 'application/yaml':
      return 'yaml';
    case 'application/vnd.kubernetes.protobuf':
      return 'protobuf';
    default:
      return undefined;
  }
}
