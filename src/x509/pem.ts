/** PEM: DER in base64 between two lines that name it (RFC 7468). */

export interface PemBlock {
  label: string;
  der: Buffer;
}

export function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** All blocks of a text; what is between them is ignored. */
export function fromPem(text: string): PemBlock[] {
  const found = text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g);
  return [...found].map(([, label = '', body = '']) => ({ label, der: Buffer.from(body, 'base64') }));
}
