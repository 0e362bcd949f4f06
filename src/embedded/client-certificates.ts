/** The vault's X.509 as the API server uses it: a client CA per cluster, and certificates for approved requests. */
import type { ClientCertificates } from '../apiserver/index.ts';
import type { Clock } from '../clock.ts';
import { parseRequest } from '../vault/certificate-request.ts';
import { createCa, signRequest } from '../vault/certificates.ts';

const DAY_SECONDS = 86_400;

export function clientCertificates(clock: Clock): ClientCertificates {
  return {
    createCa: (cluster) => createCa(`rookery clients of ${cluster || 'the root cluster'}`, { clock }),
    read: parseRequest,
    sign: (ca, request, usages, seconds) =>
      signRequest(ca, parseRequest(request), usages, { clock, days: seconds / DAY_SECONDS }),
  };
}
