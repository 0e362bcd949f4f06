/** Which form of an answer a client wants: the `Accept` header of Kubernetes clients, with its `as=` parameters. */
import { notAcceptable } from '../status.ts';

export type Shape = 'object' | 'Table' | 'PartialObjectMetadata';

export interface Accepted {
  encoding: 'json' | 'yaml';
  shape: Shape;
  /** Version of meta.k8s.io of a Table or PartialObjectMetadata. */
  version: string;
}

export interface MediaRange {
  type: string;
  parameters: Record<string, string>;
}

const PLAIN: Accepted = { encoding: 'json', shape: 'object', version: 'v1' };
const SUPPORTED = ['application/json', 'application/yaml'];
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
    .map((range, index) => ({ range, index, quality: Number(range.parameters.q ?? 1) }))
    .sort((a, b) => b.quality - a.quality || a.index - b.index)
    .map(({ range }) => range);
  if (cache.size > 500) cache.clear();
  cache.set(text, ranges);
  return ranges;
}

/** The first form we can give. Throws 406 when there is none. */
export function negotiate(header: string | undefined, shapes: readonly Shape[]): Accepted {
  const ranges = parseAccept(header);
  if (ranges.length === 0) return PLAIN;
  for (const { type, parameters } of ranges) {
    const encoding = encodingOf(type);
    if (!encoding) continue;
    const as = parameters.as;
    if (!as) return { ...PLAIN, encoding };
    if (parameters.g && parameters.g !== 'meta.k8s.io') continue;
    const version = parameters.v ?? 'v1';
    if (version !== 'v1' && version !== 'v1beta1') continue;
    const shape =
      as === 'Table' ? 'Table' : as.startsWith('PartialObjectMetadata') ? 'PartialObjectMetadata' : undefined;
    if (shape && shapes.includes(shape)) return { encoding, shape, version };
  }
  throw notAcceptable(SUPPORTED);
}

function encodingOf(type: string): 'json' | 'yaml' | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  if (type === 'application/yaml') return 'yaml';
  return undefined;
}
