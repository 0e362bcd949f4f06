/**
 * The compiled workshop: one SQLite file with everything that `template sync` and other programs need, and nothing of the machine it was made
 * on. Made whole beside its place and moved there, so a reader never finds half of one.
 */
import { rename, rm } from 'node:fs/promises';
import Database from 'better-sqlite3';
import { RookeryError } from '../errors.ts';
import type { Check } from './goss.ts';
import type { StepFile, Workshop } from './load.ts';

export const FORMAT = 1;

export interface ArtifactStep {
  id: string;
  title: string;
  group?: string;
  requires?: string[];
  imageTag: string;
  /** Of everything the image is made from. */
  contentHash: string;
  cluster?: 'keep' | 'reset' | 'restore';
  content: string;
  hints?: string;
  explain?: string;
  solution?: string;
  env?: Record<string, string>;
  manifests?: string;
  checks: Check[];
  files: StepFile[];
}

export interface Artifact {
  name: string;
  title?: string;
  description?: string;
  navigation: Workshop['workshop']['navigation'];
  lifecycle?: Workshop['lifecycle'];
  resources?: Workshop['resources'];
  cluster?: NonNullable<Workshop['infrastructure']>['cluster'];
  compiledAt: string;
  steps: ArtifactStep[];
}

const SCHEMA = `
  CREATE TABLE workshop (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE steps (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, image_tag TEXT NOT NULL, content_hash TEXT NOT NULL,
    content TEXT NOT NULL, details TEXT NOT NULL
  ) STRICT;
  CREATE TABLE files (
    step TEXT NOT NULL REFERENCES steps (id), path TEXT NOT NULL, mode TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (step, path)
  ) STRICT;`;

export async function writeArtifact(path: string, artifact: Artifact): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  await rm(draft, { force: true });
  const database = new Database(draft);
  try {
    database.pragma(`user_version = ${FORMAT}`);
    database.exec(SCHEMA);
    database.transaction(() => insert(database, artifact))();
  } finally {
    database.close();
  }
  await rename(draft, path);
}

export function readArtifact(path: string): Artifact {
  const database = open(path);
  try {
    const format = database.pragma('user_version', { simple: true });
    if (format !== FORMAT) {
      throw unreadable(path, `it has format ${format}, this Rookery reads ${FORMAT}`);
    }
    const pairs = database.prepare('SELECT key, value FROM workshop').all() as { key: string; value: string }[];
    const workshop = Object.fromEntries(pairs.map(({ key, value }) => [key, JSON.parse(value)]));
    const steps = database.prepare('SELECT * FROM steps ORDER BY position').all() as StepRow[];
    const files = database.prepare('SELECT path, mode, content FROM files WHERE step = ? ORDER BY path');
    return {
      ...(workshop as Omit<Artifact, 'steps'>),
      steps: steps.map((row) => ({
        id: row.id,
        title: row.title,
        imageTag: row.image_tag,
        contentHash: row.content_hash,
        content: row.content,
        ...JSON.parse(row.details),
        files: files.all(row.id) as StepFile[],
      })),
    };
  } catch (error) {
    if (error instanceof RookeryError) throw error;
    throw unreadable(path, (error as Error).message);
  } finally {
    database.close();
  }
}

interface StepRow {
  id: string;
  title: string;
  image_tag: string;
  content_hash: string;
  content: string;
  details: string;
}

function insert(database: Database.Database, { steps, ...workshop }: Artifact): void {
  const pair = database.prepare('INSERT INTO workshop VALUES (?, ?)');
  for (const [key, value] of Object.entries(workshop)) if (value !== undefined) pair.run(key, JSON.stringify(value));
  const step = database.prepare('INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?)');
  const file = database.prepare('INSERT INTO files VALUES (?, ?, ?, ?)');
  for (const [position, { id, title, imageTag, contentHash, content, files, ...details }] of steps.entries()) {
    step.run(position, id, title, imageTag, contentHash, content, JSON.stringify(details));
    for (const { path, mode, content: bytes } of files) file.run(id, path, mode, bytes);
  }
}

function open(path: string): Database.Database {
  try {
    return new Database(path, { readonly: true, fileMustExist: true });
  } catch (error) {
    throw unreadable(path, (error as Error).message);
  }
}

function unreadable(path: string, why: string): RookeryError {
  return new RookeryError('workshop.artifact', `${path} is no compiled workshop: ${why}`, {
    class: 'user',
    hint: 'make it with `rookery workshop build compile <folder>`',
  });
}
