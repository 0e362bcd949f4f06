/** Something wrong in a workshop's files: where, what, and what helps. */
export interface Problem {
  /** Relative to the workshop's folder. */
  file: string;
  line?: number;
  /** `steps[1].title`; empty for the file as a whole. */
  field: string;
  message: string;
  fix?: string;
}

/** `steps/2-deploy/step.yaml:3: title: must not be empty (write what people read)`. */
export function problemText({ file, line, field, message, fix }: Problem): string {
  const where = line === undefined ? file : `${file}:${line}`;
  return `${where}: ${field ? `${field}: ` : ''}${message}${fix ? ` (${fix})` : ''}`;
}
