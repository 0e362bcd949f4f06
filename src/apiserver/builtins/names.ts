/**
 * The formats names and keys must have. Every check returns the upstream texts of what is wrong, so an empty list
 * means valid (k8s.io/apimachinery/pkg/util/validation and pkg/api/validate/content).
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?';
const CONFIG_KEY = '[-._a-zA-Z0-9]+';
const SEARCH_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SEARCH = `${SEARCH_LABEL}(\\.${SEARCH_LABEL})*`;
const WILDCARD = `\\*\\.${SUBDOMAIN}`;

const labelPattern = new RegExp(`^${LABEL}$`);
const subdomainPattern = new RegExp(`^${SUBDOMAIN}$`);
const label1035Pattern = new RegExp(`^${LABEL_1035}$`);
const qualifiedPattern = new RegExp(`^${QUALIFIED}$`);
const labelValuePattern = new RegExp(`^${LABEL_VALUE}$`);
const configKeyPattern = new RegExp(`^${CONFIG_KEY}$`);
const wildcardPattern = new RegExp(`^${WILDCARD}$`);

/** Bytes, as Go's len() counts. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

export function maxLength(length: number): string {
  return `must be no more than ${length} characters`;
}

export function patternText(text: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${text} (${shown ? `e.g. ${shown}` : ''}regex used for validation is '${pattern}')`;
}

export function rangeText(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

const searchPattern = new RegExp(`^${SEARCH}$`);

/** A domain to search: underscores are allowed in it. */
export function searchDomain(value: string): string[] {
  const errors = byteLength(value) > 253 ? [maxLength(253)] : [];
  if (value.length <= 4096 && searchPattern.test(value)) return errors;
  const text =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
  return [...errors, patternText(text, SEARCH, 'example.com')];
}

export function dns1123Label(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 63) errors.push(maxLength(63));
  if (!labelPattern.test(value)) {
    errors.push(
      subdomainPattern.test(value)
        ? 'must not contain dots'
        : patternText(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            LABEL,
            'my-name',
            '123-abc',
          ),
    );
  }
  return errors;
}

export function dns1123Subdomain(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 253) errors.push(maxLength(253));
  // The pattern is quadratic on adversarial input; past the length limit its answer adds nothing.
  if (value.length > 4096 || !subdomainPattern.test(value)) {
    errors.push(
      patternText(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        SUBDOMAIN,
        'example.com',
      ),
    );
  }
  return errors;
}

export function dns1035Label(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 63) errors.push(maxLength(63));
  if (!label1035Pattern.test(value)) {
    errors.push(
      patternText(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        LABEL_1035,
        'my-name',
        'abc-123',
      ),
    );
  }
  return errors;
}

export function wildcardSubdomain(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 253) errors.push(maxLength(253));
  if (!wildcardPattern.test(value)) {
    errors.push(
      patternText(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        WILDCARD,
        '*.example.com',
      ),
    );
  }
  return errors;
}

/** Keys of labels, annotations (lowercased first) and finalizers: `[prefix/]name`. */
export function qualifiedName(value: string): string[] {
  const errors: string[] = [];
  const parts = value.split('/');
  let name = value;
  if (parts.length === 2) {
    name = parts[1] as string;
    const prefix = parts[0] as string;
    if (prefix === '') errors.push('prefix part must be non-empty');
    else errors.push(...dns1123Subdomain(prefix).map((text) => `prefix part ${text}`));
  } else if (parts.length > 2) {
    return [
      `a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (byteLength(name) > 63) errors.push(`name part ${maxLength(63)}`);
  if (!qualifiedPattern.test(name)) {
    errors.push(
      `name part ${patternText(
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        QUALIFIED,
        'MyName',
        'my.name',
        '123-abc',
      )}`,
    );
  }
  return errors;
}

export function labelValue(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 63) errors.push(maxLength(63));
  if (!labelValuePattern.test(value)) {
    errors.push(
      patternText(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        LABEL_VALUE,
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  }
  return errors;
}

/** Names of RBAC objects and others that only have to fit into a path. */
export function pathSegment(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((illegal) => value.includes(illegal)).map((illegal) => `may not contain '${illegal}'`);
}

export function configMapKey(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 253) errors.push(maxLength(253));
  if (!configKeyPattern.test(value)) {
    errors.push(
      patternText(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        CONFIG_KEY,
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    );
  }
  if (value === '.' || value === '..') errors.push(`must not be '${value}'`);
  else if (value.startsWith('..')) errors.push("must not start with '..'");
  return errors;
}

/** Names of environment variables: anything printable in ASCII but `=`. */
export function envVarName(value: string): string[] {
  if (value === '') return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

export function portName(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 15) errors.push(maxLength(15));
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)');
  if (value.includes('--')) errors.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

export function portNumber(value: unknown): string[] {
  return typeof value === 'number' && value >= 1 && value <= 65535 ? [] : [rangeText(1, 65535)];
}

export function percent(value: string): string[] {
  return /^[0-9]+%$/.test(value)
    ? []
    : [
        patternText(
          "a valid percent string must be a numeric string followed by an ending '%'",
          '[0-9]+%',
          '1%',
          '93%',
        ),
      ];
}

export function httpHeaderName(value: string): string[] {
  return /^[-A-Za-z0-9]+$/.test(value)
    ? []
    : [
        patternText(
          "a valid HTTP header must consist of alphanumeric characters or '-'",
          '[-A-Za-z0-9]+',
          'X-Header-Name',
        ),
      ];
}
