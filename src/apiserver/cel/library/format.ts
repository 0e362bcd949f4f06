/** `format.dns1123Label().validate(…)`: Kubernetes' named formats; `validate` gives what is wrong, or nothing. */
import { dns1035Label, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../builtins/names.ts';
import { formatCheck } from '../../schema/formats.ts';
import type { Library } from '../engine.ts';

class NamedFormat {
  readonly name: string;
  readonly check: (text: string) => string[];

  constructor(name: string, check: (text: string) => string[]) {
    this.name = name;
    this.check = check;
  }

  toString(): string {
    return this.name;
  }
}

/** A prefix may end in a dash: something will follow it. */
const asPrefix = (check: (text: string) => string[]) => (text: string) => check(text.replace(/-$/, 'a'));
const known = (format: string, problem: string) => (text: string) => (formatCheck(format)?.(text) ? [] : [problem]);

const FORMATS: Record<string, (text: string) => string[]> = {
  dns1123Label,
  dns1123Subdomain,
  dns1035Label,
  qualifiedName,
  dns1123LabelPrefix: asPrefix(dns1123Label),
  dns1123SubdomainPrefix: asPrefix(dns1123Subdomain),
  dns1035LabelPrefix: asPrefix(dns1035Label),
  labelValue,
  uri: known('uri', 'invalid URI for request'),
  uuid: known('uuid', 'does not match the UUID format'),
  byte: known('byte', 'invalid base64'),
  date: known('date', 'invalid date'),
  datetime: known('datetime', 'invalid datetime'),
};

export function registerFormat(library: Library): void {
  const { cel, environment } = library;
  environment.registerType('kubernetes.NamedFormat', NamedFormat as never);
  const formats = new Map(Object.entries(FORMATS).map(([name, check]) => [name, new NamedFormat(name, check)]));
  library.namespace('format', {
    'named(string): optional<kubernetes.NamedFormat>': (name: string) => {
      const found = formats.get(name);
      return found ? cel.Optional.of(found) : cel.Optional.none();
    },
    ...Object.fromEntries([...formats].map(([name, format]) => [`${name}(): kubernetes.NamedFormat`, () => format])),
  });
  library.add(
    'kubernetes.NamedFormat.validate(string): optional<list<string>>',
    (format: NamedFormat, text: string) => {
      const problems = format.check(text);
      return problems.length === 0 ? cel.Optional.none() : cel.Optional.of(problems);
    },
  );
}
