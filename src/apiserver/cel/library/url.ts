/** `url(…)` and `isURL(…)`: absolute URIs and absolute paths, as Go's url.ParseRequestURI takes them. */
import { formatCheck } from '../../schema/formats.ts';
import type { Library } from '../engine.ts';

class CelUrl {
  readonly text: string;
  readonly parts: URL;
  readonly absolute: boolean;

  constructor(text: string) {
    this.text = text;
    this.absolute = !text.startsWith('/');
    this.parts = new URL(text, 'http://none');
  }

  toString(): string {
    return this.text;
  }
}

function isUrl(text: string): boolean {
  return formatCheck('uri')?.(text) === true && URL.canParse(text, 'http://none');
}

/** Path and host are shown as they were written, not as a browser would clean them up. */
function host(url: CelUrl): string {
  return url.absolute ? (/^[^:]+:\/\/([^/?#]*)/.exec(url.text)?.[1]?.replace(/^.*@/, '') ?? '') : '';
}

function rawPath(url: CelUrl): string {
  const path = url.absolute ? (/^[^:]+:\/\/[^/?#]*([^?#]*)/.exec(url.text)?.[1] ?? '') : url.text.split('?')[0];
  return encodeURI(decodeSafely(path ?? ''));
}

function decodeSafely(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}

export function registerUrl(library: Library): void {
  library.environment.registerType('kubernetes.URL', CelUrl as never);
  const port = (url: CelUrl) => /:(\d*)$/.exec(host(url))?.[1] ?? '';
  library
    .add('isURL(string): bool', isUrl)
    .add('url(string): kubernetes.URL', (text: string) =>
      isUrl(text)
        ? new CelUrl(text)
        : library.fail(
            `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
          ),
    )
    .add('kubernetes.URL.getScheme(): string', (url: CelUrl) => (url.absolute ? url.parts.protocol.slice(0, -1) : ''))
    .add('kubernetes.URL.getHost(): string', host)
    .add('kubernetes.URL.getHostname(): string', (url: CelUrl) =>
      host(url)
        .replace(/:\d*$/, '')
        .replace(/^\[|\]$/g, ''),
    )
    .add('kubernetes.URL.getPort(): string', port)
    .add('kubernetes.URL.getEscapedPath(): string', rawPath)
    .add('kubernetes.URL.getQuery(): map<string, list<string>>', (url: CelUrl) => {
      const query: Record<string, string[]> = {};
      for (const key of new Set(url.parts.searchParams.keys())) query[key] = url.parts.searchParams.getAll(key);
      return query;
    });
  library.environment.registerOperator('kubernetes.URL == kubernetes.URL', (a: CelUrl, b: CelUrl) => a.text === b.text);
}
