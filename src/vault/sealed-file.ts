/**
 * One file that can be written and read in pieces, and is either what was written, whole and in order, or refused: a readable first line, then frames,
 * each sealed with AES-256-GCM under the line, its number and its kind. The last frame is of a kind of its own, so that a file that was cut is told.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Random } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { decrypt, encrypt } from './cipher.ts';

const MAGIC = 'rookery-backup/1 ';
const HEADER_MAX = 4096;
/** Length and kind. */
const FRAME_HEADER = 5;
const FRAME_MAX = 8 * 2 ** 20;
const END = 0;

export interface Frame {
  /** From 1; the caller's. */
  kind: number;
  content: Buffer;
}

export class SealedFileWriter {
  readonly #file: FileHandle;
  readonly #seal: (content: Buffer, context: string) => Buffer;
  readonly #context: string;
  #count = 0;
  bytes = 0;

  private constructor(file: FileHandle, seal: (content: Buffer, context: string) => Buffer, context: string) {
    this.#file = file;
    this.#seal = seal;
    this.#context = context;
  }

  /** The file must not be there yet. */
  static async create(path: string, header: object, key: Buffer, random: Random): Promise<SealedFileWriter> {
    const line = Buffer.from(`${MAGIC}${JSON.stringify(header)}\n`);
    const file = await open(path, 'wx', 0o600);
    const seal = (content: Buffer, context: string) => encrypt(key, content, context, random);
    const writer = new SealedFileWriter(file, seal, contextOf(line));
    await writer.#append(line);
    return writer;
  }

  async write({ kind, content }: Frame): Promise<void> {
    const sealed = this.#seal(content, `${this.#context}|${this.#count++}|${kind}`);
    const header = Buffer.alloc(FRAME_HEADER);
    header.writeUInt32BE(sealed.length, 0);
    header.writeUInt8(kind, 4);
    await this.#append(Buffer.concat([header, sealed]));
  }

  /** Nothing was promised before: the disk has it now. */
  async finish(): Promise<void> {
    await this.write({ kind: END, content: Buffer.alloc(0) });
    await this.#file.sync();
    await this.#file.close();
  }

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => {});
  }

  async #append(content: Buffer): Promise<void> {
    await this.#file.appendFile(content);
    this.bytes += content.length;
  }
}

export class SealedFileReader {
  readonly header: Record<string, unknown>;
  readonly #file: FileHandle;
  readonly #context: string;
  readonly #start: number;

  private constructor(file: FileHandle, line: Buffer) {
    this.#file = file;
    this.#context = contextOf(line);
    this.#start = line.length;
    this.header = JSON.parse(line.subarray(MAGIC.length).toString());
  }

  static async open(path: string): Promise<SealedFileReader> {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_MAX), 0, HEADER_MAX, 0);
      const end = buffer.subarray(0, bytesRead).indexOf('\n');
      if (end < 0 || !buffer.toString('latin1').startsWith(MAGIC)) throw noBackup(path);
      return new SealedFileReader(file, buffer.subarray(0, end + 1));
    } catch (error) {
      await file.close();
      throw error instanceof SyntaxError ? noBackup(path, error) : error;
    }
  }

  /** All of them: only a caller that reads to the end knows that the file is whole. */
  async *frames(key: Buffer): AsyncGenerator<Frame> {
    let at = this.#start;
    for (let number = 0; ; number++) {
      const header = await this.#read(at, FRAME_HEADER);
      const [length, kind] = [header.readUInt32BE(0), header.readUInt8(4)];
      if (length > FRAME_MAX) throw damaged('a part of it has an impossible length');
      const sealed = await this.#read(at + FRAME_HEADER, length);
      at += FRAME_HEADER + length;
      const content = opened(key, sealed, `${this.#context}|${number}|${kind}`, number);
      if (kind !== END) yield { kind, content };
      else if ((await this.#file.stat()).size !== at) throw damaged('something was appended to it');
      else return;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #read(at: number, length: number): Promise<Buffer> {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await this.#file.read(buffer, 0, length, at);
    if (bytesRead < length) throw damaged('it is cut short');
    return buffer;
  }
}

function contextOf(line: Buffer): string {
  return createHash('sha256').update(line).digest('base64');
}

function opened(key: Buffer, sealed: Buffer, context: string, number: number): Buffer {
  try {
    return decrypt(key, sealed, context);
  } catch (error) {
    if (number > 0) throw damaged('a part of it was changed', error);
    throw new RookeryError('backup.key', 'the backup does not open with this passphrase or key file', {
      class: 'user',
      hint: 'it was made with another one, or its beginning was changed',
      cause: error,
    });
  }
}

function noBackup(path: string, cause?: unknown): RookeryError {
  return new RookeryError('backup.foreign', `${path} is not a backup of Rookery`, { class: 'user', cause });
}

function damaged(why: string, cause?: unknown): RookeryError {
  return new RookeryError('backup.damaged', `the backup is damaged: ${why}`, {
    hint: 'Nothing was changed. Use another one: rookery backup list',
    cause,
  });
}
