/**
 * The resources a CRD defines: one per served version, all of one storage. Cheap to make: what is below
 * `schema` is looked at when the first request needs it.
 */
import type { KubeObject } from '../../api/object.ts';
import { definition } from '../kinds/definition.ts';
import { type Conversion, groupVersion, type Resource, type Strategy, type Subresource } from '../resource.ts';
import { checkTypes } from '../schema/check-types.ts';
import { applyDefaults } from '../schema/defaults.ts';
import { objectMetaSchema } from '../schema/object-meta.ts';
import { pruneResource } from '../schema/prune.ts';
import type { Schema } from '../schema/schema.ts';
import { type Crd, type CrdVersion, storageVersion } from './crd.ts';
import { validateCustom } from './custom-validation.ts';
import { compileJsonPath } from './json-path.ts';
import { customPrinter } from './printer.ts';

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

/** Finds the schema of a version when it is first needed. */
export type LoadSchema = (version: string) => Schema | undefined;

/**
 * `load` lets callers drop the schemas of `crd` from memory until they are asked for; by default they are taken from
 * `crd` itself.
 */
export function customResources(crd: Crd, load: LoadSchema = schemasOf(crd), conversion?: Conversion): Resource[] {
  const versions = new Map<string, Resource>();
  const inVersion = (name: string): Resource | undefined => {
    const known = versions.get(name);
    const version = known ? undefined : crd.spec.versions.find((v) => v.name === name);
    if (!version) return known;
    const made = customResource(crd, version, load, { conversion, inVersion });
    versions.set(name, made);
    return made;
  };
  return crd.spec.versions.filter((v) => v.served).map(({ name }) => inVersion(name) as Resource);
}

/** What the versions of one CRD have in common. */
interface Family {
  conversion?: Conversion;
  inVersion(version: string): Resource | undefined;
}

export function schemasOf(crd: Crd): LoadSchema {
  return (name) => crd.spec.versions.find((v) => v.name === name)?.schema?.openAPIV3Schema;
}

export function storageOf(crd: Crd): string {
  return `${crd.spec.group}/${crd.spec.names.plural}`;
}

export function customResource(
  crd: Crd,
  version: CrdVersion,
  load: LoadSchema,
  family: Family = { inVersion: () => undefined },
): Resource {
  const { group, scope } = crd.spec;
  // Names that clashed stay those that were accepted before.
  const names = crd.status?.acceptedNames?.kind ? crd.status.acceptedNames : crd.spec.names;
  let raw: Schema | undefined;
  let whole: Schema | undefined;
  const schema = () => {
    raw ??= load(version.name) ?? PRESERVE_ALL;
    return raw;
  };
  const hasStatus = version.subresources?.status !== undefined;
  const scale = version.subresources?.scale;
  const deleting = crd.metadata.deletionTimestamp !== undefined;
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    // Nothing new comes into a resource that is being taken away.
    verbs: deleting ? VERBS.filter((verb) => verb !== 'create') : VERBS,
    subresources: subresources(hasStatus, scale !== undefined),
    storage: storageOf(crd),
    storageVersion: storageVersion(crd),
    schema() {
      whole ??= wholeSchema(schema());
      return whole;
    },
    strategy: customStrategy(schema, hasStatus),
    printer: customPrinter(version.additionalPrinterColumns),
    ...(scale ? { scale: scalePaths(scale) } : {}),
    selectableFields: selectableFields(version),
    convert: converter(crd, version, schema, load),
    ...(version.deprecated ? { deprecationWarning: deprecation(crd, version) } : {}),
    custom: {
      crdName: crd.metadata.name ?? '',
      crdUid: crd.metadata.uid ?? '',
      hasStatus,
      since: Number(crd.metadata.resourceVersion ?? 0),
      prune(object) {
        checkMetadata(object);
        return pruneResource(object, schema());
      },
      validate: (object, old, warnings, scope) => validateCustom(object, old, schema(), scale, warnings, scope),
      ...family,
    },
  };
}

/** A version without a schema keeps whatever it is given. */
const PRESERVE_ALL: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Throws TypeError as decoding does: metadata has Go types whatever the CRD says. */
function checkMetadata(object: KubeObject): void {
  if (object.metadata !== undefined) checkTypes(object.metadata, objectMetaSchema, 'ObjectMeta');
}

function subresources(status: boolean, scale: boolean): Subresource[] {
  const verbs = ['get', 'patch', 'update'];
  return [
    ...(status ? [{ name: 'status', verbs }] : []),
    ...(scale ? [{ name: 'scale', verbs, group: 'autoscaling', version: 'v1', kind: 'Scale' }] : []),
  ];
}

function scalePaths(scale: NonNullable<NonNullable<CrdVersion['subresources']>['scale']>) {
  const bare = (path: string) => path.replace(/^\./, '');
  return {
    specReplicas: bare(scale.specReplicasPath),
    statusReplicas: bare(scale.statusReplicasPath),
    ...(scale.labelSelectorPath ? { selector: bare(scale.labelSelectorPath) } : {}),
  };
}

/** The schema with apiVersion, kind and metadata in place, for documents and for merging. */
function wholeSchema(schema: Schema): Schema {
  const string: Schema = { type: 'string' };
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: schema.properties?.apiVersion ?? string,
      kind: schema.properties?.kind ?? string,
      metadata: definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'),
    },
  };
}

function customStrategy(schema: () => Schema, hasStatus: boolean): Strategy {
  return {
    requireResourceVersion: true,
    defaults: (object) => applyDefaults(object, schema()),
    prepareCreate(object) {
      if (hasStatus) delete object.status;
    },
    prepareUpdate(object, old) {
      if (!hasStatus) return;
      if (old.status === undefined) delete object.status;
      else object.status = structuredClone(old.status);
    },
    prepareSubresource(subresource, object, old) {
      if (subresource !== 'status') return;
      for (const key of Object.keys(object)) if (key !== 'status' && key !== 'metadata') delete object[key];
      for (const key of Object.keys(old)) {
        if (key !== 'status' && key !== 'metadata') object[key] = structuredClone(old[key]);
      }
      const managedFields = object.metadata.managedFields;
      object.metadata = { ...structuredClone(old.metadata), managedFields };
    },
  };
}

function selectableFields(version: CrdVersion): Resource['selectableFields'] {
  const fields: Resource['selectableFields'] = {};
  for (const { jsonPath } of version.selectableFields ?? []) {
    const find = compileJsonPath(jsonPath);
    fields[jsonPath.replace(/^\./, '')] = (object) => {
      const [value] = find(object);
      return value === undefined || value === null ? '' : String(value);
    };
  }
  return fields;
}

/**
 * Without a webhook only apiVersion differs between versions. Either way an object is held to the schema of the version
 * it comes to, and what is read has that version's defaults.
 */
function converter(crd: Crd, version: CrdVersion, schema: () => Schema, load: LoadSchema): Resource['convert'] {
  const served = groupVersion(crd.spec.group, version.name);
  const stored = storageVersion(crd);
  let storedSchema: Schema | undefined;
  return (object, to) => {
    object.apiVersion = to;
    if (to === served) {
      pruneResource(object, schema());
      applyDefaults(object, schema());
    } else if (to === groupVersion(crd.spec.group, stored)) {
      storedSchema ??= load(stored) ?? PRESERVE_ALL;
      pruneResource(object, storedSchema);
    }
  };
}

function deprecation(crd: Crd, version: CrdVersion): string {
  const what = `${groupVersion(crd.spec.group, version.name)} ${crd.spec.names.kind}`;
  return version.deprecationWarning ?? `${what} is deprecated`;
}
