/** Names of properties as CEL can write them: `foo-bar` is `foo__dash__bar`, reserved words are wrapped. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const REPLACEMENTS: Record<string, string> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};
const ORIGINALS: Record<string, string> = Object.fromEntries(
  Object.entries(REPLACEMENTS).map(([original, escaped]) => [escaped, original]),
);

/** Undefined where no expression can name the property. */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/.test(name)) return undefined;
  return name.replace(/__|[-./]/g, (part) => REPLACEMENTS[part] as string);
}

/** Undefined for what is no escaped name. */
export function unescapeName(escaped: string): string | undefined {
  if (!escaped.includes('__')) return escaped;
  let broken = false;
  const name = escaped.replace(/__[^_]+__/g, (part) => {
    const word = part.slice(2, -2);
    if (RESERVED.has(word)) {
      if (part.length !== escaped.length) broken = true;
      return word;
    }
    const original = ORIGINALS[part];
    if (original === undefined) broken = true;
    return original ?? '';
  });
  return broken ? undefined : name;
}
