/** Asks the Go oracle (test/bed/modules/oracle) what upstream's own libraries make of a case. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Case {
  op: 'json' | 'merge' | 'strategic' | 'update' | 'apply' | 'cel' | 'structural';
  schema?: unknown;
  kind?: string;
  live?: unknown;
  object?: unknown;
  patch?: unknown;
  manager?: string;
  subresource?: string;
  force?: boolean;
  reset?: string[][];
  expressions?: string[];
}

export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: whatever upstream answers
  result?: any;
  /** fieldsV1 of the result's managedFields, byte for byte. */
  fields?: string[];
  error?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
}

export class Oracle {
  private readonly process: ChildProcess;
  private readonly waiting: ((answer: Answer) => void)[] = [];
  asked = 0;

  constructor(binary: string) {
    this.process = spawn(binary, [], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: this.process.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => this.waiting.shift()?.(JSON.parse(line)));
  }

  ask(question: Case): Promise<Answer> {
    this.asked++;
    this.process.stdin?.write(`${JSON.stringify(question)}\n`);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  close(): void {
    this.process.stdin?.end();
  }
}

/** Where the oracle is: what ORACLE_PROGRAM names, else it is built (Go's cache makes that quick the second time). */
export function buildOracle(): string {
  const known = process.env.ORACLE_PROGRAM;
  if (known) return known;
  const source = fileURLToPath(new URL('../bed/modules/oracle', import.meta.url));
  const folder = fileURLToPath(new URL('../../node_modules/.cache/oracle', import.meta.url));
  mkdirSync(folder, { recursive: true });
  execFileSync('go', ['build', '-o', `${folder}/oracle`, '.'], { cwd: source, stdio: 'inherit' });
  return `${folder}/oracle`;
}
