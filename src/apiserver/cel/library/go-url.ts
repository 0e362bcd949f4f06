/** URLs as Go's net/url takes them apart. */
import { AddressError, parseAddress } from './address.ts';

export interface GoUrl {
  scheme: string;
  opaque: string;
  user: string | undefined;
  host: string;
  /** Decoded. */
  path: string;
  /** As written, where that differs from how Go would encode the path. */
  rawPath: string;
  query: string;
  forceQuery: boolean;
  fragment: string;
  omitHost: boolean;
}

const bad = (message: string): never => {
  throw new Error(message);
};

/** Throws an Error with Go's reason. `request`: as in a request line, absolute and without fragment. */
export function parseUrl(text: string, request: boolean): GoUrl {
  const hash = request ? -1 : text.indexOf('#');
  const url = parse(hash < 0 ? text : text.slice(0, hash), request);
  if (hash >= 0) url.fragment = decoded(text.slice(hash + 1), 'fragment');
  return url;
}

function parse(text: string, request: boolean): GoUrl {
  const url: GoUrl = {
    scheme: '',
    opaque: '',
    user: undefined,
    host: '',
    path: '',
    rawPath: '',
    query: '',
    forceQuery: false,
    fragment: '',
    omitHost: false,
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\x00-\x1f\x7f]/.test(text)) bad('net/url: invalid control character in URL');
  if (text === '' && request) bad('empty url');
  if (text === '*') return { ...url, path: '*' };
  if (text.startsWith(':')) bad('missing protocol scheme');
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1];
  url.scheme = (scheme ?? '').toLowerCase();
  let rest = scheme === undefined ? text : text.slice(scheme.length + 1);
  const question = rest.indexOf('?');
  if (question >= 0 && question === rest.length - 1) url.forceQuery = true;
  if (question >= 0) {
    url.query = rest.slice(question + 1);
    rest = rest.slice(0, question);
  }
  if (!rest.startsWith('/')) {
    if (url.scheme !== '') return { ...url, opaque: rest };
    if (request) bad('invalid URI for request');
    if (rest.split('/')[0]?.includes(':')) bad('first path segment in URL cannot contain colon');
  }
  if ((url.scheme !== '' || (!request && !rest.startsWith('///'))) && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? '' : rest.slice(slash);
    readAuthority(url, authority);
  } else if (url.scheme !== '' && rest.startsWith('/')) url.omitHost = true;
  url.path = decoded(rest, 'path');
  if (encoded(url.path, PATH) !== rest) url.rawPath = rest;
  return url;
}

function readAuthority(url: GoUrl, authority: string): void {
  const at = authority.lastIndexOf('@');
  url.host = parseHost(url.scheme, authority.slice(at + 1));
  if (at < 0) return;
  url.user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(url.user)) bad('net/url: invalid userinfo');
  decoded(url.user, 'user');
}

function parseHost(scheme: string, host: string): string {
  const port = (text: string) => {
    if (text !== '' && !/^:\d*$/.test(text)) bad(`invalid port ${JSON.stringify(text)} after host`);
  };
  const open = host.lastIndexOf('[');
  if (open > 0) bad('invalid IP-literal');
  if (open === 0) {
    const close = host.lastIndexOf(']');
    if (close < 0) bad("missing ']' in host");
    port(host.slice(close + 1));
    const name = decoded(host.slice(1, close).replace(/%25/, '%2525'), 'host');
    try {
      if (parseAddress(name).family === 4) bad('invalid IP-literal');
    } catch (error) {
      if (!(error instanceof AddressError)) throw error;
      bad(`invalid host: ${error.message}`);
    }
    return `[${name}]${host.slice(close + 1)}`;
  }
  const first = host.indexOf(':');
  if (first >= 0) port(host.slice(scheme === 'http' || scheme === 'https' ? first : host.lastIndexOf(':')));
  return decoded(host, 'host');
}

const HOST = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/;

/** Decodes %XX; Go keeps bytes, so what is no UTF-8 is lost here. */
function decoded(text: string, where: 'path' | 'host' | 'user' | 'fragment'): string {
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === '%') {
      const code = text.slice(i, i + 3);
      if (!/^%[0-9a-fA-F]{2}$/.test(code)) bad(`invalid URL escape ${JSON.stringify(code)}`);
      // Only non-ASCII bytes may be encoded in host names.
      if (where === 'host' && Number.parseInt(code.slice(1), 16) < 0x80 && code !== '%25') {
        bad(`invalid URL escape ${JSON.stringify(code)}`);
      }
      i += 2;
    } else if (where === 'host' && char < '\x80' && !HOST.test(char)) {
      bad(`invalid character ${JSON.stringify(char)} in host name`);
    }
  }
  const bytes: number[] = [];
  const source = Buffer.from(text);
  for (let i = 0; i < source.length; i++) {
    if (source[i] === 0x25) {
      bytes.push(Number.parseInt(source.toString('latin1', i + 1, i + 3), 16));
      i += 2;
    } else bytes.push(source[i] as number);
  }
  return Buffer.from(bytes).toString('utf8');
}

const PATH = /[A-Za-z0-9\-_.~$&+,/:;=@]/;

function encoded(text: string, plain: RegExp): string {
  let out = '';
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte);
    out += byte < 0x80 && plain.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}

export function escapedPath(url: GoUrl): string {
  if (url.rawPath !== '' && /^[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]%/]*$/.test(url.rawPath)) return url.rawPath;
  return url.path === '*' ? '*' : encoded(url.path, PATH);
}

export function hostAndPort(url: GoUrl): [string, string] {
  const match = /^(.*):(\d*)$/s.exec(url.host);
  const [host, port] = match ? [match[1] as string, match[2] as string] : [url.host, ''];
  return [host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host, port];
}

export function urlText(url: GoUrl): string {
  let out = url.scheme === '' ? '' : `${url.scheme}:`;
  if (url.opaque !== '') out += url.opaque;
  else {
    const authority = url.host !== '' || url.user !== undefined;
    if ((url.scheme !== '' || authority) && !(url.omitHost && !authority) && (authority || url.path !== ''))
      out += '//';
    if (url.user !== undefined) out += `${url.user}@`;
    out += url.host;
    const path = escapedPath(url);
    if (path !== '' && !path.startsWith('/') && url.host !== '') out += '/';
    out += path;
  }
  if (url.forceQuery || url.query !== '') out += `?${url.query}`;
  return url.fragment === '' ? out : `${out}#${encoded(url.fragment, /[A-Za-z0-9\-_.~$&+,/:;=?@!()*]/)}`;
}

/** Values by key; pairs with a semicolon or a broken escape are left out. */
export function queryValues(query: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const cut = pair.indexOf('=');
    try {
      const decode = (part: string) => decoded(part.replaceAll('+', '%20'), 'fragment');
      const key = decode(cut < 0 ? pair : pair.slice(0, cut));
      const value = cut < 0 ? '' : decode(pair.slice(cut + 1));
      found.set(key, [...(found.get(key) ?? []), value]);
    } catch {
      // Go's Query() drops what it cannot read, too.
    }
  }
  return found;
}
