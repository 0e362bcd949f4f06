/**
 * Reads a large JSON text in steps: parsing megabytes in one call holds the event loop for hundreds of milliseconds. The
 * text is scanned; what was scanned since the last step is parsed in one call, and added to the containers that are still
 * open. Keys that stand twice are found on the way.
 */
import { assign } from '../json.ts';
import { closingQuote, type Frame, isKey, pathOf } from './duplicate-keys.ts';

/** The text is no JSON. What is wrong with it is for JSON.parse to say. */
export class NotJson extends Error {
  override readonly name = 'NotJson';
}

export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

export interface JsonRead {
  value: unknown;
  /** Paths of keys that stand twice. */
  duplicates: string[];
}

/** Characters that are parsed in one call. */
const PIECE = 32 * 1024;

type Container = unknown[] | Record<string, unknown>;

/** An open container of the text. */
interface Open extends Frame {
  /** Where its bracket stands. */
  at: number;
  /** Its value, once a part of it was parsed. Until then its text belongs to its parent's. */
  container?: Container;
  /** Where the text of it begins that was not parsed yet. */
  rest: number;
  /** Where the current child begins, its key included, and where its key ends. */
  child: number;
  keyEnd: number;
  /** Something must follow: the last parsed child has a comma behind it. */
  isAfterComma: boolean;
}

/** Throws NotJson, or TooDeep for containers nested deeper than `depth`. */
export function* jsonInPieces(text: string, depth: number, piece = PIECE): Generator<void, JsonRead> {
  const reader = new Reader(text, depth, piece);
  while (reader.read()) yield;
  return { value: reader.value, duplicates: [...reader.duplicates] };
}

class Reader {
  readonly #text: string;
  readonly #depth: number;
  readonly #piece: number;
  readonly #open: Open[] = [];
  #at = 0;
  value: unknown;
  #isComplete = false;
  readonly duplicates = new Set<string>();

  constructor(text: string, depth: number, piece: number) {
    this.#text = text;
    this.#depth = depth;
    this.#piece = piece;
  }

  /** Reads about one piece; false at the end of the text. */
  read(): boolean {
    const text = this.#text;
    const end = Math.min(this.#at + this.#piece, text.length);
    for (; this.#at < end; this.#at++) this.#character(text.charCodeAt(this.#at));
    if (this.#at < text.length) {
      this.#parseScanned();
      return true;
    }
    if (this.#open.length > 0 || !this.#isComplete) throw new NotJson();
    return false;
  }

  #character(code: number): void {
    const frame = this.#open[this.#open.length - 1];
    switch (code) {
      case 0x7b: // {
      case 0x5b: // [
        return this.#enter(code === 0x7b, frame);
      case 0x7d: // }
      case 0x5d: // ]
        return this.#leave(code === 0x7d, frame);
      case 0x2c: // ,
        if (frame && !frame.keys) {
          frame.index++;
          frame.child = this.#at + 1;
        }
        return;
      case 0x22: // "
        return this.#string(frame);
      default:
        // Outside of the root only blanks may stand; inside, JSON.parse looks at the rest.
        if (!frame && !isBlank(code)) throw new NotJson();
    }
  }

  #enter(isObject: boolean, parent: Open | undefined): void {
    if (!parent && this.#isComplete) throw new NotJson();
    if (this.#open.length > this.#depth) throw new TooDeep();
    const at = this.#at;
    const keys = isObject ? new Set<string>() : undefined;
    const root: Container | undefined = parent ? undefined : isObject ? {} : [];
    this.#open.push({
      keys,
      key: '',
      index: 0,
      at,
      container: root,
      rest: at + 1,
      child: at + 1,
      keyEnd: -1,
      isAfterComma: false,
    });
    if (root) this.value = root;
  }

  #leave(isObject: boolean, frame: Open | undefined): void {
    if (!frame || (frame.keys !== undefined) !== isObject) throw new NotJson();
    this.#open.pop();
    if (this.#open.length === 0) this.#isComplete = true;
    if (!frame.container) return;
    const rest = this.#text.slice(frame.rest, this.#at);
    if (!isBlankText(rest)) add(frame.container, rest);
    else if (frame.isAfterComma) throw new NotJson();
    const parent = this.#open[this.#open.length - 1];
    if (parent) this.#expectNext(parent);
  }

  /** After a child that was parsed for itself: a comma, or the end of its parent. */
  #expectNext(parent: Open): void {
    const text = this.#text;
    let at = this.#at + 1;
    while (isBlank(text.charCodeAt(at))) at++;
    const code = text.charCodeAt(at);
    parent.isAfterComma = code === 0x2c;
    if (!parent.isAfterComma && code !== 0x5d && code !== 0x7d) throw new NotJson();
    this.#at = parent.isAfterComma ? at : at - 1;
    if (parent.isAfterComma && !parent.keys) parent.index++;
    parent.rest = this.#at + 1;
    parent.child = parent.rest;
    parent.keyEnd = -1;
  }

  #string(frame: Open | undefined): void {
    const text = this.#text;
    const at = this.#at;
    const end = closingQuote(text, at);
    if (end < 0 || !frame) throw new NotJson();
    this.#at = end;
    if (!frame.keys || !isKey(text, end + 1)) return;
    const key = unquoted(text.slice(at, end + 1));
    frame.key = key;
    frame.child = at;
    frame.keyEnd = end + 1;
    if (frame.keys.has(key)) this.duplicates.add(pathOf(this.#open));
    frame.keys.add(key);
  }

  /** What is complete of each open container, from the outermost to the innermost. */
  #parseScanned(): void {
    for (let i = 0; i < this.#open.length; i++) {
      const frame = this.#open[i] as Open;
      const next = this.#open[i + 1];
      frame.container ??= frame.keys ? {} : [];
      this.#parseComplete(frame);
      if (!next) return;
      if (next.container) continue;
      next.container = next.keys ? {} : [];
      const between = trimmed(this.#text.slice(frame.keys ? frame.keyEnd : frame.child, next.at));
      if (frame.keys) {
        if (frame.keyEnd < 0 || between !== ':') throw new NotJson();
        const key = parsed(this.#text.slice(frame.child, frame.keyEnd)) as string;
        assign(frame.container as Record<string, unknown>, key, next.container);
      } else {
        if (between !== '') throw new NotJson();
        (frame.container as unknown[]).push(next.container);
      }
    }
  }

  /** All children of an open container that stand before the current one. */
  #parseComplete(frame: Open): void {
    const before = trimmed(this.#text.slice(frame.rest, frame.child));
    if (before === '') return;
    if (!before.endsWith(',')) throw new NotJson();
    add(frame.container as Container, before.slice(0, -1));
    frame.rest = frame.child;
    frame.isAfterComma = true;
  }
}

function add(container: Container, text: string): void {
  if (isBlankText(text)) throw new NotJson();
  if (Array.isArray(container)) {
    for (const item of parsed(`[${text}]`) as unknown[]) container.push(item);
    return;
  }
  const part = parsed(`{${text}}`) as Record<string, unknown>;
  for (const key of Object.keys(part)) assign(container, key, part[key]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NotJson();
  }
}

function unquoted(raw: string): string {
  return raw.includes('\\') ? (parsed(raw) as string) : raw.slice(1, -1);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isBlankText(text: string): boolean {
  return trimmed(text) === '';
}

/** Without what JSON takes for blanks, which is less than what JavaScript does. */
function trimmed(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}
