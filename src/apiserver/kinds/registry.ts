/**
 * Which resources one cluster serves: the built-ins, which all clusters share, and those of its own CRDs. A cluster
 * without CRDs holds no memory here but the object itself. `revision` changes with every change, so that documents
 * made from a registry can be cached; 0 means "built-ins only" and is the same for every cluster.
 */
import type { Resource } from '../resource.ts';
import { builtinResources } from './builtin.ts';
import { resourceTable } from './tables.ts';
import { compareVersions } from './version-order.ts';

export interface ApiGroup {
  name: string;
  /** Ordered; the first is the preferred one. */
  versions: string[];
}

interface Index {
  byPlural: Map<string, Resource>;
  byKind: Map<string, Resource>;
}

function key(group: string, version: string, name: string): string {
  return `${group}/${version}/${name}`;
}

function indexOf(resources: Iterable<Resource>): Index {
  const index: Index = { byPlural: new Map(), byKind: new Map() };
  for (const resource of resources) {
    index.byPlural.set(key(resource.group, resource.version, resource.plural), resource);
    index.byKind.set(key(resource.group, resource.version, resource.kind), resource);
  }
  return index;
}

function storagesOf(resources: Iterable<Resource>): Map<string, Resource> {
  const storages = new Map<string, Resource>();
  for (const resource of resources) {
    // Reviews, bindings and component statuses are answered, never stored.
    if (!resource.verbs.includes('list') || !resource.verbs.includes('delete')) continue;
    const known = storages.get(resource.storage);
    if (!known || isStoredForm(resource) > isStoredForm(known)) storages.set(resource.storage, resource);
  }
  return storages;
}

/** The resource that shows rows as they are stored is the better one to work with: nothing to convert. */
function isStoredForm(resource: Resource): number {
  return Number(resource.storageGroup === undefined && resource.version === resource.storageVersion);
}

/** Keyed `group/version`, resources by name as the real server lists them. */
function groupVersionsOf(resources: Iterable<Resource>): Map<string, Resource[]> {
  const result = new Map<string, Resource[]>();
  for (const resource of resources) {
    const name = `${resource.group}/${resource.version}`;
    const list = result.get(name);
    if (list) list.push(resource);
    else result.set(name, [resource]);
  }
  for (const list of result.values()) list.sort((a, b) => (a.plural < b.plural ? -1 : 1));
  return result;
}

interface Views {
  index: Index;
  storages: ReadonlyMap<string, Resource>;
  groupVersions: ReadonlyMap<string, Resource[]>;
}

let shared: Views | undefined;

function builtins(): Views {
  const all = builtinResources();
  shared ??= { index: indexOf(all), storages: storagesOf(all), groupVersions: groupVersionsOf(all) };
  return shared;
}

let lastRevision = 0;

export class Registry {
  /** CRD name → its resources, in order of arrival. */
  #custom: Map<string, Resource[]> | undefined;
  #index: Index | undefined;
  #groups: ApiGroup[] | undefined;
  #storages: ReadonlyMap<string, Resource> | undefined;
  #groupVersions: ReadonlyMap<string, Resource[]> | undefined;
  #sharing: ReadonlyMap<string, Resource[]> | undefined;
  #revision = 0;

  /** Equal revisions mean equal content, across registries too; otherwise it has no order. */
  get revision(): number {
    return this.#revision;
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    const wanted = key(group, version, plural);
    return builtins().index.byPlural.get(wanted) ?? this.#customIndex()?.byPlural.get(wanted);
  }

  byKind(group: string, version: string, kind: string): Resource | undefined {
    const wanted = key(group, version, kind);
    return builtins().index.byKind.get(wanted) ?? this.#customIndex()?.byKind.get(wanted);
  }

  /** The resource in its preferred served version. */
  findAnyVersion(group: string, plural: string): Resource | undefined {
    for (const version of this.#group(group)?.versions ?? []) {
      const resource = this.find(group, version, plural);
      if (resource) return resource;
    }
    return undefined;
  }

  all(): Resource[] {
    return this.#custom ? [...builtinResources(), ...this.#customResources()] : builtinResources();
  }

  /** Resources of CRDs only. */
  custom(): Resource[] {
    return this.#custom ? [...this.#customResources()] : [];
  }

  /** Core first, then built-in groups by the real server's priority, then groups of CRDs by name. */
  groups(): ApiGroup[] {
    if (!this.#custom) return resourceTable().groups;
    this.#groups ??= this.#mergeGroups();
    return this.#groups;
  }

  /** Resources of one group-version by name; empty for one that is not served. */
  resourcesOf(group: string, version: string): readonly Resource[] {
    if (this.#custom) this.#groupVersions ??= groupVersionsOf(this.all());
    return (this.#groupVersions ?? builtins().groupVersions).get(`${group}/${version}`) ?? [];
  }

  /** One resource for each distinct storage, in its stored form where that is served. */
  storages(): ReadonlyMap<string, Resource> {
    if (!this.#custom) return builtins().storages;
    this.#storages ??= new Map([...builtins().storages, ...storagesOf(this.#customResources())]);
    return this.#storages;
  }

  /** All that show the same rows: the versions of one resource. */
  sharing(storage: string): readonly Resource[] {
    if (!this.#sharing) {
      const byStorage = new Map<string, Resource[]>();
      for (const resource of this.all()) {
        const others = byStorage.get(resource.storage);
        if (others) others.push(resource);
        else byStorage.set(resource.storage, [resource]);
      }
      this.#sharing = byStorage;
    }
    return this.#sharing.get(storage) ?? [];
  }

  /** Serves the resources of a CRD in place of those it had before; built-in resources cannot be replaced. */
  setCustom(crdName: string, resources: Resource[]): void {
    this.#custom ??= new Map();
    this.#custom.set(crdName, resources);
    this.#changed();
  }

  removeCustom(crdName: string): void {
    if (!this.#custom?.delete(crdName)) return;
    if (this.#custom.size === 0) this.#custom = undefined;
    this.#changed();
  }

  #changed(): void {
    this.#index = undefined;
    this.#groups = undefined;
    this.#storages = undefined;
    this.#groupVersions = undefined;
    this.#sharing = undefined;
    this.#revision = this.#custom ? ++lastRevision : 0;
  }

  /** Made when first needed: at a start hundreds of CRDs arrive one after another. */
  #customIndex(): Index | undefined {
    if (this.#custom) this.#index ??= indexOf(this.#customResources());
    return this.#index;
  }

  *#customResources(): Iterable<Resource> {
    for (const resources of this.#custom?.values() ?? []) yield* resources;
  }

  #group(name: string): ApiGroup | undefined {
    return this.groups().find((group) => group.name === name);
  }

  #mergeGroups(): ApiGroup[] {
    const builtin = resourceTable().groups.map((group) => ({ name: group.name, versions: [...group.versions] }));
    const byName = new Map<string, ApiGroup>(builtin.map((group) => [group.name, group]));
    const added: ApiGroup[] = [];
    for (const resource of this.#customResources()) {
      let group = byName.get(resource.group);
      if (!group) {
        group = { name: resource.group, versions: [] };
        byName.set(group.name, group);
        added.push(group);
      }
      if (!group.versions.includes(resource.version)) group.versions.push(resource.version);
    }
    const merged = [...builtin, ...added.sort((a, b) => (a.name < b.name ? -1 : 1))];
    for (const group of merged) group.versions.sort(compareVersions);
    return merged;
  }
}
