/** A folder of copies as one sealed file, and back. Under the name of a backup there is never anything but a whole one. */
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';
import { checkFile } from '../../apiserver/index.ts';
import type { Clock, Random } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { type BackupSecret, deriveKey, type KeyRecipe, recipeFor } from '../../vault/backup-key.ts';
import { SealedFileReader, SealedFileWriter } from '../../vault/sealed-file.ts';
import type { BackupFolder, BackupInfo } from './backup-folder.ts';
import { filesBelow, MANIFEST, type Manifest } from './stage.ts';

const ENTRY = 1;
const DATA = 2;
const CHUNK = 2 ** 20;
const SALT_BYTES = 16;
/** Where the files of a backup may go: what is in it was sealed by us, and is still only data. */
const ALLOWED =
  /^(?:(?:data|pki|provisioners)\/(?:(?!\.\.?(?:\/|$))[^/\0]+\/)*[^/\0]+|keys\.json|links\.key|manifest\.json)$/;

export type OnProgress = (done: number, total: number) => void;

export interface PackOptions {
  from: string;
  folder: BackupFolder;
  secret: BackupSecret;
  clock: Clock;
  random: Random;
  onProgress?: OnProgress;
}

export async function pack(options: PackOptions): Promise<BackupInfo & { manifest: Manifest }> {
  const { from, folder, secret, clock, random } = options;
  const { manifest, paths } = await checked(from);
  const recipe = recipeFor(secret, random.bytes(SALT_BYTES));
  const { createdAt, version } = manifest;
  const key = await deriveKey(secret, recipe);
  const draft = await folder.draft(clock.now());
  const writer = await SealedFileWriter.create(draft, { createdAt, version, key: recipe }, key, random);
  try {
    await writeEntry(writer, MANIFEST, Buffer.from(JSON.stringify(manifest)));
    await writeFiles(writer, from, paths, options.onProgress);
    await writer.finish();
    const isComplete = manifest.skipped.length === 0;
    const file = await publish(draft, folder, Date.parse(createdAt), isComplete);
    return { file, createdAt, bytes: writer.bytes, isComplete, manifest };
  } finally {
    await writer.abandon();
    await rm(draft, { force: true });
  }
}

/** A store that was copied with its damage is left out: nothing could be restored from it. */
async function checked(from: string): Promise<{ manifest: Manifest; paths: string[] }> {
  const manifest = JSON.parse(await readFile(join(from, MANIFEST), 'utf8')) as Manifest;
  const paths: string[] = [];
  for (const path of (await filesBelow(from)).filter((each) => each !== MANIFEST)) {
    const [, cluster] = /^data\/clusters\/(.+)\.db$/.exec(path) ?? [];
    try {
      if (path.endsWith('.db')) checkFile(join(from, path));
      paths.push(path);
    } catch (error) {
      if (!cluster) throw error;
      manifest.clusters = manifest.clusters.filter((name) => name !== cluster);
      manifest.skipped.push({ cluster, why: 'its store is damaged' });
    }
  }
  return { manifest, paths };
}

async function writeFiles(writer: SealedFileWriter, from: string, paths: string[], onProgress?: OnProgress) {
  for (const [i, path] of paths.entries()) {
    const file = await open(join(from, path), 'r');
    try {
      const { size } = await file.stat();
      await writer.write({ kind: ENTRY, content: Buffer.from(JSON.stringify({ path, size })) });
      for (let at = 0; at < size; at += CHUNK) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(CHUNK, size - at)), 0, undefined, at);
        if (bytesRead < buffer.length) throw new Error(`${path} became shorter while it was read`);
        await writer.write({ kind: DATA, content: await promisify(deflate)(buffer) });
      }
    } finally {
      await file.close();
    }
    onProgress?.(i + 1, paths.length);
  }
}

async function writeEntry(writer: SealedFileWriter, path: string, content: Buffer): Promise<void> {
  await writer.write({ kind: ENTRY, content: Buffer.from(JSON.stringify({ path, size: content.length })) });
  await writer.write({ kind: DATA, content: await promisify(deflate)(content) });
}

/** A link never replaces a file, unlike a rename: two backups of one second get two names. */
async function publish(draft: string, folder: BackupFolder, at: number, isComplete: boolean): Promise<string> {
  for (let second = 0; ; second++) {
    const file = folder.fileFor(at + second * 1000, isComplete);
    try {
      await link(draft, file);
      const parent = await open(dirname(file), 'r');
      await parent.sync().finally(() => parent.close());
      return file;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

export interface UnpackOptions {
  file: string;
  secret: BackupSecret;
  /** Where the files go; without it they are only read, which checks all of them. */
  to?: string;
  /** Which of them. Default: all. */
  wants?(path: string): boolean;
  onProgress?: OnProgress;
}

/** What it wrote counts only when it returns: then the backup was whole to its last byte. */
export async function unpack({ file, secret, to, wants, onProgress }: UnpackOptions): Promise<Manifest> {
  const reader = await SealedFileReader.open(file);
  try {
    const key = await deriveKey(secret, reader.header.key as KeyRecipe);
    let manifest: Manifest | undefined;
    let count = 0;
    for await (const { path, content } of entries(reader, key, (path) =>
      to && (wants?.(path) ?? true) ? join(to, path) : undefined,
    )) {
      if (path === MANIFEST) manifest = JSON.parse(content.toString()) as Manifest;
      const total = manifest ? Math.max(manifest.clusters.length, ++count) : count;
      onProgress?.(count, total);
    }
    if (!manifest) throw new RookeryError('backup.damaged', 'the backup says nothing about itself');
    return manifest;
  } finally {
    await reader.close();
  }
}

interface Entry {
  path: string;
  size: number;
}

/** Small files are handed on as they are; those with a place are written there piece by piece. */
async function* entries(reader: SealedFileReader, key: Buffer, placeOf: (path: string) => string | undefined) {
  let entry: Entry | undefined;
  let parts: Buffer[] = [];
  let file: Awaited<ReturnType<typeof open>> | undefined;
  const finish = async () => {
    await file?.sync();
    await file?.close();
    file = undefined;
    return { path: entry?.path as string, content: Buffer.concat(parts) };
  };
  try {
    for await (const { kind, content } of reader.frames(key)) {
      if (kind === ENTRY) {
        if (entry) yield await finish();
        entry = JSON.parse(content.toString()) as Entry;
        parts = [];
        if (!ALLOWED.test(entry.path))
          throw new RookeryError('backup.damaged', 'the backup has a file that belongs in no home');
        const place = placeOf(entry.path);
        if (place) {
          await mkdir(dirname(place), { recursive: true, mode: 0o700 });
          file = await open(place, 'wx', 0o600);
        }
      } else {
        const plain = await promisify(inflate)(content, { maxOutputLength: CHUNK });
        await file?.appendFile(plain);
        if (entry?.path === MANIFEST) parts.push(plain);
      }
    }
    if (entry) yield await finish();
  } finally {
    await file?.close().catch(() => {});
  }
}
