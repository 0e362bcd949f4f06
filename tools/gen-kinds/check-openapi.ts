/** Compares our OpenAPI v3 documents with the published ones: operations, their kinds, and the form of definitions. */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { openApiDocument } from '../../src/apiserver/kinds/openapi-v3.ts';
import { Registry } from '../../src/apiserver/kinds/registry.ts';
import { kubernetes } from './modules.ts';
import { readGroups } from './resources.ts';
import { compact } from './schemas.ts';

// biome-ignore lint/suspicious/noExplicitAny: raw OpenAPI
type Raw = any;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export async function checkOpenApi(): Promise<string[]> {
  const registry = new Registry();
  const problems: string[] = [];
  for (const { name, versions } of readGroups()) {
    for (const version of versions) {
      const path = name ? `apis/${name}/${version}` : `api/${version}`;
      const file = `${kubernetes()}/api/openapi-spec/v3/${path.replaceAll('/', '__')}_openapi.json`;
      const golden = JSON.parse(readFileSync(file, 'utf8'));
      const ours = JSON.parse((await openApiDocument(registry, path))?.body ?? 'null');
      const report = (text: string) => problems.push(`openapi: ${path}: ${text}`);
      compareOperations(operations(ours), operations(golden), report);
      compareDefinitions(ours.components.schemas, golden.components.schemas, report);
    }
  }
  return problems;
}

function compareOperations(ours: Map<string, Raw>, golden: Map<string, Raw>, report: (text: string) => void): void {
  for (const id of new Set([...ours.keys(), ...golden.keys()])) {
    if (!isDeepStrictEqual(ours.get(id), golden.get(id))) {
      report(`${id}: ${JSON.stringify(ours.get(id))} instead of ${JSON.stringify(golden.get(id))}`);
    }
  }
}

function operations(document: Raw): Map<string, Raw> {
  const result = new Map<string, Raw>();
  for (const [path, item] of Object.entries(document.paths as Record<string, Raw>)) {
    // Old watch paths, proxied paths and the resource list are left out on purpose.
    if (path.includes('/watch/') || path.endsWith('/') || path.endsWith('{path}')) continue;
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      // One server only: discovery says get and create for streams that its proxy also takes by other methods.
      if (operation['x-kubernetes-action'] === 'connect') continue;
      result.set(`${method} ${path}`, {
        id: operation.operationId,
        action: operation['x-kubernetes-action'],
        kind: operation['x-kubernetes-group-version-kind'],
        answer: operation.responses['200']?.content['application/json']?.schema,
        body: operation.requestBody?.content['*/*']?.schema,
      });
    }
  }
  return result;
}

function compareDefinitions(ours: Raw, golden: Raw, report: (text: string) => void): void {
  for (const name of Object.keys(ours)) {
    if (!golden[name]) {
      report(`definition ${name} is not upstream`);
      continue;
    }
    if (!isDeepStrictEqual(compact(ours[name]), compact(golden[name]))) report(`definition ${name} differs`);
    const kinds = golden[name]['x-kubernetes-group-version-kind'];
    if (kinds?.length === 1 && !isDeepStrictEqual(ours[name]['x-kubernetes-group-version-kind'], kinds)) {
      report(`definition ${name} is another kind`);
    }
    for (const [, reference] of JSON.stringify(ours[name]).matchAll(/#\/components\/schemas\/([^"]+)/g)) {
      if (!ours[reference as string]) report(`definition ${name} refers to ${reference}, which is missing`);
    }
  }
}
