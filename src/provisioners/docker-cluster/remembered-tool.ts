/** The program of a provisioner, as long as it was found not too long ago. Who asks while it is looked for waits for the same answer. */
import type { Clock } from '../../clock.ts';
import { RookeryError } from '../../errors.ts';
import { type FoundTool, findTool } from '../../tools/find-tool.ts';
import type { Processes } from '../../tools/processes.ts';

const AGE_MS = 60_000;

export class RememberedTool {
  readonly #name: string;
  readonly #processes: Processes;
  readonly #clock: Clock;
  #found: { tool: Promise<FoundTool>; at: number } | undefined;

  constructor(name: string, { processes, clock }: { processes: Processes; clock: Clock }) {
    this.#name = name;
    this.#processes = processes;
    this.#clock = clock;
  }

  find(signal?: AbortSignal): Promise<FoundTool> {
    const at = this.#clock.now();
    if (this.#found && at - this.#found.at < AGE_MS) return this.#found.tool;
    const found = { tool: this.#search(signal), at };
    this.#found = found;
    found.tool.catch(() => {
      if (this.#found === found) this.#found = undefined;
    });
    return found.tool;
  }

  async #search(signal?: AbortSignal): Promise<FoundTool> {
    const { tool, ...search } = await findTool(this.#name, this.#processes, signal);
    if (tool) return tool;
    const { why, fix } = search as { why: string; fix: string };
    throw new RookeryError('tool.missing', why, { class: 'retryable', hint: `install it: ${fix}` });
  }
}
