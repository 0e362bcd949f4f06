// What a part of the bed is. The catalog is a list of these; builders, `list` and the suites only read it.

/** A .deb of a newer suite, unpacked into the cache: the system itself is never upgraded. */
export interface DebianSource {
  readonly from: 'debian';
  readonly suite: 'trixie' | 'forky';
  /** Package name → version prefix that must match, so that a point release does not break the bed. */
  readonly packages: Readonly<Record<string, string>>;
}

/** Packages of the system's own suite, installed the ordinary way. */
export interface AptSource {
  readonly from: 'apt';
  readonly packages: readonly string[];
}

/** Programs built from published Go modules that a folder in `modules/` pins by go.mod and go.sum. */
export interface GoSource {
  readonly from: 'go';
  readonly folder: string;
  readonly programs: Readonly<Record<string, string>>;
  readonly cgo?: boolean;
  readonly tags?: readonly string[];
  readonly ldflags?: readonly string[];
  /** Packages whose test binary (`go test -c`) is wanted. */
  readonly testPrograms?: Readonly<Record<string, string>>;
  /** Build in a copy of this module, for mains whose go.mod has replace directives of its own. */
  readonly copyOf?: string;
  /** Folders of that copy to be laid over others first, e.g. files the program embeds. */
  readonly overlay?: Readonly<Record<string, string>>;
  /** Folders of a module to be kept beside the programs, below `keep/` (a chart, CRDs). */
  readonly keep?: { readonly of: string; readonly folders: readonly string[] };
}

/** A Debian root file system made by debootstrap, as one tar layer. */
export interface RootfsSource {
  readonly from: 'rootfs';
  readonly suite: 'bookworm' | 'forky';
  readonly packages: readonly string[];
}

/** Container images put together from other parts, without an engine and without a registry. */
export interface ImageSource {
  readonly from: 'image';
  /** The function in `images/` that makes it. */
  readonly recipe: string;
  /** Files and folders in `images/` that decide its content, besides the parts it needs. */
  readonly inputs: readonly string[];
}

export type Source = DebianSource | AptSource | GoSource | RootfsSource | ImageSource;

export interface Part {
  readonly name: string;
  readonly version: string;
  readonly source: Source;
  /** Names of parts that must be there before this one can be built or used. */
  readonly needs?: readonly string[];
  /** Files (relative to the part, or absolute for `apt`) that must exist for the part to count as present. */
  readonly check: readonly string[];
  /** What the part is for, shown by `list`. */
  readonly about: string;
  /** Not built by a plain `make bed`, only when named. */
  readonly optional?: boolean;
}
