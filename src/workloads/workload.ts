/**
 * Where the shell of a workspace runs. One contract for all of them; `test/conformance/workload` checks it for each:
 *
 * - No call waits for minutes: `ensure` does the next step, says where things stand and is called again.
 * - What is made carries the workspace's id and can be found by it after a `kill -9` at any moment.
 * - `suspend` ends everything that runs and keeps what was written; `ensure` brings the same state back.
 * - `remove` ends with nothing left and says what it removed.
 * - Two workspaces do not see each other's files, processes or credentials.
 */
import type { Availability, Removal } from '../tools/outcomes.ts';

/** Whose workload it is (uid of the instance), and a name for people. */
export interface WorkspaceRef {
  id: string;
  name: string;
}

export interface StepFile {
  path: string;
  content: string;
  mode?: string;
}

export interface WorkloadRequest extends WorkspaceRef {
  step: {
    id: string;
    image?: string;
    env?: Record<string, string>;
    files?: readonly StepFile[];
    /** Of the steps before it: for whoever has not been there. */
    earlierFiles?: readonly StepFile[];
  };
  /** For the user's kubectl; absent where there is no cluster. */
  kubeconfig?: string;
  /** Docker network of the cluster, for workloads that are containers. */
  network?: string;
  limits?: { cpu?: string; memory?: string; disk?: string };
  /** What the template lets it reach, besides its cluster and name servers. */
  egress?: readonly { host: string; port: number }[];
  /** Registry credentials, as in `.dockerconfigjson`. */
  pullSecrets?: readonly string[];
}

export interface WorkloadState {
  /** `refused`: only a change by a person helps. `blocked`: tried again by itself. */
  phase: 'working' | 'ready' | 'blocked' | 'refused';
  reason: string;
  /** Also of one that is ready, where it is not all that was asked for. */
  message: string;
  next?: string;
  lookAgainMs?: number;
}

/** A running shell. */
export interface Terminal {
  write(data: string): void;
  resize(columns: number, rows: number): void;
  /** Whoever prints waits until it goes on. */
  pause(): void;
  resume(): void;
  onData(listener: (data: string) => void): void;
  onExit(listener: (code: number) => void): void;
  close(): void;
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Workload {
  readonly name: string;
  /** Which kubeconfig its shells need: from this machine, or from a container on the cluster's network. */
  readonly audience: 'external' | 'internal';
  probe(signal?: AbortSignal): Promise<Availability>;
  ensure(request: WorkloadRequest, signal?: AbortSignal): Promise<WorkloadState>;
  suspend(ref: WorkspaceRef, signal?: AbortSignal): Promise<void>;
  remove(ref: WorkspaceRef, signal?: AbortSignal): Promise<Removal>;
  /** Everything with our mark, whoever owns it. */
  inventory(signal?: AbortSignal): Promise<{ ref: WorkspaceRef; what: string }[]>;
  /** A new shell in it; the workload must be ready. */
  terminal(ref: WorkspaceRef, size: TerminalSize): Promise<Terminal>;
  /** What happened to its shells, or what its container said: lines that begin with a time (RFC 3339, UTC), those after `since`. */
  logs(ref: WorkspaceRef, since?: string, signal?: AbortSignal): Promise<string[]>;
  /** Runs a command in it to its end: what checks are made of. */
  run(ref: WorkspaceRef, command: string, options: { timeoutMs: number; signal?: AbortSignal }): Promise<CommandResult>;
}
