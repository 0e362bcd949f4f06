/**
 * OpenAPI v2, `/openapi/v2`: one document for everything that is served. Few clients still read it, and it is large: it
 * is made when first asked for, in pieces that are kept per resource (those of built-in kinds once for all clusters),
 * so that a new CRD costs its own piece and the hash of the whole.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Resource } from '../resource.ts';
import { Turns } from '../turns.ts';
import { VERSION } from '../version.ts';
import { builtinResources } from './builtin.ts';
import { addComponents, type Components } from './openapi-components.ts';
import { customDefinitionsV2 } from './openapi-custom.ts';
import { definitionsV2 } from './openapi-v2-components.ts';
import { resourcePathsV2, sharedParameters } from './openapi-v2-paths.ts';
import type { Registry } from './registry.ts';
import { RevisionCache } from './revision-cache.ts';
import { resourceTable } from './tables.ts';

export interface OpenApiV2 {
  etag: string;
  /** The JSON text in pieces. */
  json: string[];
  /** The protobuf form in pieces. */
  protobuf(): Promise<Buffer[]>;
}

/** What one resource, or all built-in ones, add to a document: members of JSON objects, without the braces. */
interface Fragment {
  paths: string;
  definitions: string;
  encoded?: { paths: Buffer; definitions: Buffer };
}

/** Paths or definitions encoded between two looks at the event loop. */
const SLICE = 50;

const documents = new RevisionCache<Promise<OpenApiV2>>();
const fragments = new WeakMap<Resource, Fragment>();

const HEAD = {
  swagger: '2.0',
  info: { title: 'Kubernetes', version: VERSION.gitVersion },
  parameters: sharedParameters(),
  securityDefinitions: {
    BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
  },
  security: [{ BearerToken: [] }],
};

export function openApiV2(registry: Registry): Promise<OpenApiV2> {
  return documents.get(registry, '', () => make(registry));
}

async function make(registry: Registry): Promise<OpenApiV2> {
  const parts = [...(await builtinFragments())];
  for (const resource of registry.custom()) {
    const known = fragments.get(resource);
    if (!known) await nextTurn();
    parts.push(known ?? customFragment(resource));
  }
  const json = [
    `${JSON.stringify(HEAD).slice(0, -1)},"paths":{`,
    ...joined(parts.map((part) => part.paths)),
    '},"definitions":{',
    ...joined(parts.map((part) => part.definitions)),
    '}}',
  ];
  const hash = createHash('sha512');
  const turns = new Turns();
  for (const piece of json) {
    hash.update(piece);
    await turns.pause();
  }
  return { etag: `"${hash.digest('hex').toUpperCase()}"`, json, protobuf: () => encode(parts) };
}

/** One piece for each group keeps the event loop free while they are made. */
let builtins: Promise<Fragment[]> | undefined;

function builtinFragments(): Promise<Fragment[]> {
  builtins ??= makeBuiltins();
  return builtins;
}

async function makeBuiltins(): Promise<Fragment[]> {
  const made: Fragment[] = [];
  const known = new Set<string>();
  for (const { name: group, versions } of resourceTable().groups) {
    await nextTurn();
    const resources = builtinResources().filter((r) => r.group === group && versions.includes(r.version));
    const components: Components = {};
    for (const resource of resources) addComponents(components, resource);
    for (const name of known) delete components[name];
    for (const name of Object.keys(components)) known.add(name);
    const paths = Object.assign({}, ...resources.map(resourcePathsV2));
    made.push(fragmentOf(paths, definitionsV2(components)));
  }
  return made;
}

function customFragment(resource: Resource): Fragment {
  const fragment = fragmentOf(resourcePathsV2(resource), customDefinitionsV2(resource));
  fragments.set(resource, fragment);
  return fragment;
}

function fragmentOf(paths: Record<string, object>, definitions: Components): Fragment {
  return { paths: JSON.stringify(paths).slice(1, -1), definitions: JSON.stringify(definitions).slice(1, -1) };
}

function joined(pieces: string[]): string[] {
  return pieces.filter((piece) => piece !== '').flatMap((piece, index) => (index === 0 ? [piece] : [',', piece]));
}

async function encode(parts: Fragment[]): Promise<Buffer[]> {
  const { encodeDefinitions, encodeDocument, encodePaths } = await import('./openapi-v2-protobuf.ts');
  const encoded: NonNullable<Fragment['encoded']>[] = [];
  for (const part of parts) {
    if (!part.encoded) {
      const paths = await sliced(part.paths, encodePaths);
      part.encoded = { paths, definitions: await sliced(part.definitions, encodeDefinitions) };
    }
    encoded.push(part.encoded);
  }
  return encodeDocument(
    HEAD,
    encoded.map((part) => part.paths),
    encoded.map((part) => part.definitions),
  );
}

/** Members of a JSON object, encoded a few at a time. */
async function sliced(members: string, write: (some: Record<string, object>) => Buffer): Promise<Buffer> {
  await nextTurn();
  const all = Object.entries(JSON.parse(`{${members}}`) as Record<string, object>);
  const pieces: Buffer[] = [];
  for (let at = 0; at < all.length; at += SLICE) {
    await nextTurn();
    pieces.push(write(Object.fromEntries(all.slice(at, at + SLICE))));
  }
  return Buffer.concat(pieces);
}
