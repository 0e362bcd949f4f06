/**
 * Finds duplicate object keys in JSON text that `JSON.parse` has accepted (it keeps the last one silently; strict
 * field validation must name them). One pass, no objects built unless a duplicate is met.
 */

/** Paths such as `spec.replicas` or `spec.list[1].name`, each once, in order of appearance. */
export function duplicateKeys(text: string): string[] {
  const found = new Set<string>();
  walkKeys(text, (frames, isRepeated) => {
    if (isRepeated) found.add(pathOf(frames));
  });
  return [...found];
}

/** Where the key of each path stands in the text, as often as it does. Dearer: every path is made. */
export function keyPlaces(text: string): Map<string, number[]> {
  const places = new Map<string, number[]>();
  walkKeys(text, (frames, _, at) => {
    const path = pathOf(frames);
    const known = places.get(path);
    if (known) known.push(at);
    else places.set(path, [at]);
  });
  return places;
}

function walkKeys(text: string, visit: (frames: Frame[], isRepeated: boolean, at: number) => void): void {
  const frames: Frame[] = [];
  let at = 0;
  let frame: Frame | undefined;
  while (at < text.length) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
        frame = { keys: new Set(), key: '', index: -1 };
        frames.push(frame);
        break;
      case 0x5b: // [
        frame = { keys: undefined, key: '', index: 0 };
        frames.push(frame);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        frames.pop();
        frame = frames[frames.length - 1];
        break;
      case 0x2c: // ,
        if (frame && !frame.keys) frame.index++;
        break;
      case 0x22: {
        const end = closingQuote(text, at);
        if (frame?.keys && isKey(text, end + 1)) {
          const raw = text.slice(at, end + 1);
          const key = raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1);
          frame.key = key;
          visit(frames, frame.keys.has(key), at);
          frame.keys.add(key);
        }
        at = end;
        break;
      }
    }
    at++;
  }
}

/** An open container, while a text is scanned. */
export interface Frame {
  /** Keys seen, for an object; undefined for an array. */
  keys: Set<string> | undefined;
  key: string;
  index: number;
}

/** Negative where there is none. */
export function closingQuote(text: string, open: number): number {
  let at = open + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
    at = end + 1;
  }
}

/** Whether the text goes on with a colon: what stands before is a key. */
export function isKey(text: string, at: number): boolean {
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === 0x3a;
}

export function pathOf(frames: Frame[]): string {
  let path = '';
  for (const frame of frames) {
    if (frame.keys) path += path ? `.${frame.key}` : frame.key;
    else path += `[${frame.index}]`;
  }
  return path;
}
