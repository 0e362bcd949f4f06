/**
 * Which Kubernetes versions a provisioner can make, from which image. `catalog.json` holds what upstream released for each version
 * of a tool; images on this machine come on top of it (a home-made node image is as good as a released one).
 * A minor means the newest patch that is here already, else the newest one released; an exact patch is never substituted.
 */
import { readFileSync } from 'node:fs';
import { RookeryError } from '../errors.ts';
import type { LocalImage } from './docker.ts';
import {
  compareVersions,
  exactVersion,
  imageTag,
  inRange,
  matches,
  parseWanted,
  type Version,
  versionText,
} from './versions.ts';

export interface ToolEntry {
  range: string;
  /** Arguments that print the version. */
  version: string[];
  /** The command that installs it. */
  install: string;
  /** A release that can be fetched, by `<platform>-<architecture>`; only where its checksum is known for sure. */
  download?: { version: string; files: Record<string, { url: string; sha256: string }> };
}

/** What upstream released for a range of versions of the tool: by digest, or by tag where the image is the same for all of them. */
interface ReleasedImages {
  tool: string;
  digests?: Record<string, string>;
  versions?: string[];
}

interface ProvisionerEntry {
  tool: string;
  default: string;
  repository: string;
  images: ReleasedImages[];
}

interface Catalog {
  tools: Record<string, ToolEntry>;
  provisioners: Record<string, ProvisionerEntry>;
}

export interface ImageQuestion {
  /** As the user wrote it; absent means the catalog's default. */
  wanted?: string;
  tool: Version;
  local: readonly LocalImage[];
  /** Nothing may be fetched. */
  offline?: boolean;
}

export interface ImageChoice {
  /** `v1.35.8`. */
  version: string;
  /** What to give to the tool. */
  image: string;
  /** Already on this machine. */
  isPresent: boolean;
}

let loaded: Catalog | undefined;

export function catalog(): Catalog {
  loaded ??= JSON.parse(readFileSync(new URL('./catalog.json', import.meta.url), 'utf8')) as Catalog;
  return loaded;
}

/** The release for this machine; undefined when none is known. */
export function downloadFor(
  { download }: ToolEntry,
  platform: string = process.platform,
  arch: string = process.arch,
): { version: string; url: string; sha256: string } | undefined {
  const file = download?.files[`${platform}-${arch === 'x64' ? 'amd64' : arch}`];
  return download && file && { version: download.version, ...file };
}

export function toolEntry(name: string): ToolEntry {
  const entry = catalog().tools[name];
  if (!entry) throw new Error(`the catalog knows no tool ${name}`);
  return entry;
}

export function provisionerEntry(name: string): ProvisionerEntry {
  const entry = catalog().provisioners[name];
  if (!entry) throw new Error(`the catalog knows no provisioner ${name}`);
  return entry;
}

/** The newest patch of each minor, newest first. */
export function releasedVersions({ digests = {}, versions = [] }: ReleasedImages): string[] {
  const newest = new Map<string, Version>();
  for (const text of [...Object.keys(digests), ...versions]) {
    const version = exactVersion(text) as Version;
    const minor = `${version[0]}.${version[1]}`;
    const known = newest.get(minor);
    if (!known || compareVersions(version, known) > 0) newest.set(minor, version);
  }
  return [...newest.values()].sort((a, b) => compareVersions(b, a)).map(versionText);
}

export function chooseImage(provisioner: string, question: ImageQuestion): ImageChoice {
  const entry = provisionerEntry(provisioner);
  const choices = candidates(entry, question);
  const wanted = parseWanted(question.wanted ?? entry.default);
  const fitting = choices.filter((choice) => matches(choice.number, wanted));
  const best = fitting.find((choice) => choice.isPresent) ?? (question.offline ? undefined : fitting[0]);
  // Nobody asked for a version: one that is here beats none at all.
  const chosen = best ?? (question.wanted ? undefined : choices.find((choice) => choice.isPresent));
  if (!chosen) throw notAvailable(entry, question, choices);
  const { number: _, ...choice } = chosen;
  return choice;
}

type Candidate = ImageChoice & { number: Version };

/** Newest first; of one version, what is here comes before what has to be fetched. */
function candidates(entry: ProvisionerEntry, { tool, local }: ImageQuestion): Candidate[] {
  const found: Candidate[] = [];
  for (const { tag } of local) {
    const number = tag && exactVersion(tag.slice(tag.lastIndexOf(':') + 1));
    if (number) found.push({ number, version: versionText(number), image: tag, isPresent: true });
  }
  const { digests = {}, versions = [] } = entry.images.find((set) => inRange(tool, set.tool)) ?? {};
  for (const version of [...Object.keys(digests), ...versions]) {
    const image = `${entry.repository}:${imageTag(version)}`;
    const digest = digests[version];
    found.push({
      number: exactVersion(version) as Version,
      version,
      image: digest ? `${image}@${digest}` : image,
      isPresent: local.some((here) => (digest ? here.digest === digest : here.tag === image)),
    });
  }
  return found.sort((a, b) => compareVersions(b.number, a.number) || Number(b.isPresent) - Number(a.isPresent));
}

function notAvailable(entry: ProvisionerEntry, question: ImageQuestion, choices: Candidate[]): RookeryError {
  const { wanted = entry.default, tool, offline } = question;
  const usable = choices.filter((choice) => choice.isPresent || !offline).map((choice) => choice.version);
  const where = offline ? 'and nothing may be fetched (ROOKERY_OFFLINE)' : `for ${entry.tool} ${versionText(tool)}`;
  return new RookeryError('version.unavailable', `Kubernetes ${wanted} cannot be had ${where}`, {
    class: 'user',
    hint:
      usable.length > 0
        ? `choose one of ${[...new Set(usable)].join(', ')}`
        : `load an image: docker load < node-image.tar`,
  });
}
