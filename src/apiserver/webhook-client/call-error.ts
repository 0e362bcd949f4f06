/** Why a webhook could not be called, or what it answered was no answer: in the words of Go's HTTP and API clients. */
export class CallError extends Error {
  override readonly name: string = 'CallError';
}

/** The configuration itself cannot be used: nobody was called. */
export class SetupError extends CallError {}

interface SystemError extends Error {
  code?: string;
  syscall?: string;
  address?: string;
  port?: number;
  hostname?: string;
  reason?: string;
  host?: string;
  cert?: { subjectaltname?: string };
}

const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
]);

const CONNECT: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  EADDRNOTAVAIL: 'cannot assign requested address',
};

/** What Go would say of a failure below HTTP. */
export function goError(error: SystemError, dialled: string): string {
  const { code = '' } = error;
  if (code in CONNECT) return `dial tcp ${dialled}: connect: ${CONNECT[code]}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `dial tcp: lookup ${error.hostname ?? dialled}: no such host`;
  const refused = 'tls: failed to verify certificate: x509:';
  if (UNKNOWN_AUTHORITY.has(code)) return `${refused} certificate signed by unknown authority`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return `${refused} certificate has expired or is not yet valid`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${refused} ${wrongName(error)}`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return 'http: server gave HTTP response to HTTPS client';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'EOF';
  return error.message;
}

function wrongName({ host = '', cert }: SystemError): string {
  const names = (cert?.subjectaltname ?? '').split(', ').filter((name) => name !== '');
  const isAddress = /^[\d.]+$|:/.test(host);
  const kind = isAddress ? 'IP Address:' : 'DNS:';
  const fitting = names.filter((name) => name.startsWith(kind)).map((name) => name.slice(kind.length));
  if (fitting.length > 0) return `certificate is valid for ${fitting.join(', ')}, not ${host}`;
  if (isAddress) return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`;
  return `certificate is not valid for any names, but wanted to match ${host}`;
}

const BY_CODE: Record<number, string> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** What API clients make of an answer that is no success: the words of a Status it carries, or their own for the code. */
export function refusedText(code: number, contentType: string | undefined, body: string): string {
  const status = statusMessage(body);
  if (status) return status;
  const text =
    contentType === undefined || contentType.startsWith('text/') ? body.slice(0, MAX_TEXT).trim() : 'unknown';
  if (code === 403 || code === 415) return text;
  if (code === 406) return text === 'unknown' || text === '' ? NOT_ACCEPTABLE : text;
  const known = BY_CODE[code];
  if (known) return known;
  if (code >= 500) return `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
  return `the server responded with the status code ${code} but did not return more information`;
}

/** What Go's clients quote of an answer they do not understand. */
const MAX_TEXT = 2048;

const NOT_ACCEPTABLE = 'the server was unable to respond with a content type that the client supports';

function statusMessage(body: string): string | undefined {
  if (!body.startsWith('{')) return undefined;
  try {
    const { kind, status, message } = JSON.parse(body) as Record<string, unknown>;
    return kind === 'Status' && status !== 'Success' && typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
