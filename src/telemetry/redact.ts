/**
 * Takes secrets out of anything about to be shown: by field name (tokens, passwords, private keys, kubeconfigs), by
 * kind (the data of a Secret) and by look (PEM private keys, JWTs, bearer headers). Rather too much than too little;
 * names of things (`secretName`, `tokenFile`) stay readable.
 */

const HIDDEN = '[redacted]';
const MAX_DEPTH = 12;

/** Compared without `-`, `_`, `.` and case. */
const SECRET_FIELDS = new Set(
  `authorization proxyauthorization cookie setcookie password passwd passphrase token accesstoken refreshtoken idtoken
  bearertoken bootstraptoken jointoken sessiontoken apikey secret clientsecret secretkey secretaccesskey privatekey
  clientkeydata clientkey sshkey kubeconfig kubeconfigdata certificatekey encryptionkey stringdata`.split(/\s+/),
);

const SECRET_TEXTS: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN],
  [/\b(bearer|basic)\s+[\w\-.~+/]{6,}=*/gi, `$1 ${HIDDEN}`],
  [
    /(["']?(?:client-key-data|client-certificate-data|id-token|refresh-token|token|password)["']?\s*[:=]\s*)["']?[^\s"',}]{6,}["']?/gi,
    `$1${HIDDEN}`,
  ],
  // kubeadm join tokens
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, HIDDEN],
];
const MAY_HOLD_SECRET = /PRIVATE KEY|eyJ|bearer|basic|client-|token|password|\b[a-z0-9]{6}\.[a-z0-9]{16}\b/i;

/** A copy without secrets; errors become plain objects with code, message, stack and cause. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '[deep]';
  if (value instanceof Error) return redactError(value, depth);
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  if (value instanceof Map || value instanceof Set) return redact([...value], depth + 1);
  const isSecret = (value as { kind?: unknown }).kind === 'Secret';
  const copy: Record<string, unknown> = {};
  for (const [field, inner] of Object.entries(value)) {
    if (isSecret && (field === 'data' || field === 'stringData')) copy[field] = hideValues(inner);
    else if (isSecretField(field) && inner !== undefined && inner !== null && inner !== '') copy[field] = HIDDEN;
    else if (field === 'kubectl.kubernetes.io/last-applied-configuration') copy[field] = HIDDEN;
    else copy[field] = redact(inner, depth + 1);
  }
  return copy;
}

export function redactText(text: string): string {
  if (!MAY_HOLD_SECRET.test(text)) return text;
  return SECRET_TEXTS.reduce((current, [pattern, replacement]) => current.replace(pattern, replacement), text);
}

function isSecretField(field: string): boolean {
  return SECRET_FIELDS.has(field.replace(/[-_.]/g, '').toLowerCase());
}

/** The keys of a Secret help to understand it, the values never leave. */
function hideValues(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return HIDDEN;
  return Object.fromEntries(Object.keys(data).map((key) => [key, HIDDEN]));
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(error).filter(([field]) => field !== 'name'));
  const plain: Record<string, unknown> = { name: error.name, message: redactText(error.message) };
  Object.assign(plain, redact(own, depth + 1) as object);
  if (error.stack) plain.stack = redactText(error.stack);
  if (error.cause !== undefined) plain.cause = redact(error.cause, depth + 1);
  return plain;
}
