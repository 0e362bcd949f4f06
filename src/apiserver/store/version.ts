/** One version of one object as the store hands it out, and the JSON text it is made of. */
import { randomUUID } from 'node:crypto';
import type { KubeObject } from '../../api/object.ts';
import { unreadable } from './failure.ts';
import type { Key, Stored } from './store.ts';

export class Version implements Stored {
  readonly key: Key;
  readonly rv: number;
  readonly json: string;
  #object: KubeObject | undefined;

  constructor(key: Key, rv: number, json: string) {
    this.key = key;
    this.rv = rv;
    this.json = json;
  }

  object(): KubeObject {
    this.#object ??= parsed(this.key, this.json);
    return this.#object;
  }
}

function parsed({ resource, namespace, name }: Key, json: string): KubeObject {
  try {
    return JSON.parse(json) as KubeObject;
  } catch (error) {
    throw unreadable(`${resource} ${namespace}/${name}`, error);
  }
}

/** The last state of a deleted object under the deletion's version; made only when someone looks. */
export class Deletion implements Stored {
  readonly key: Key;
  readonly rv: number;
  readonly #last: Stored;
  #object: KubeObject | undefined;
  #json: string | undefined;

  constructor(last: Stored, rv: number) {
    this.key = last.key;
    this.rv = rv;
    this.#last = last;
  }

  object(): KubeObject {
    if (!this.#object) {
      const last = this.#last.object();
      this.#object = { ...last, metadata: { ...last.metadata, resourceVersion: String(this.rv) } };
    }
    return this.#object;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.object());
    return this.#json;
  }
}

// Cannot be in anyone's object, so its place in the text is the place of metadata.resourceVersion and no other
// field's (an Event's involvedObject has one too).
const HOLE = `rv:${randomUUID()}`;

/** An object's JSON with a hole for the resource version: serialised once, compared and stored under any. */
export class Text {
  readonly #head: string;
  readonly #tail: string;

  constructor(object: KubeObject) {
    const metadata = object.metadata;
    const before = metadata.resourceVersion;
    metadata.resourceVersion = HOLE;
    try {
      const json = JSON.stringify(object);
      const at = json.indexOf(HOLE);
      this.#head = json.slice(0, at);
      this.#tail = json.slice(at + HOLE.length);
    } finally {
      metadata.resourceVersion = before;
    }
  }

  at(rv: number): string {
    return `${this.#head}${rv}${this.#tail}`;
  }
}
