/** Ctrl-C and TERM as a signal that waits can hear: the command ends by itself and says how to go on; the second one ends it at once. */
import { shareSignal } from '../kube/share-signal.ts';

const PATIENCE_MS = 5000;
const INTERRUPTED = 130;

/** Thrown by what was waiting; the command ends with 130. `hint`: how to go on. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly exitCode = INTERRUPTED;
  readonly hint?: string;

  constructor(hint?: string) {
    super('interrupted');
    this.hint = hint;
  }
}

interface Interrupts {
  signal: AbortSignal;
  ignoreInterrupts(): void;
  stopListening(): void;
}

export function listenForInterrupts(): Interrupts {
  const stop = new AbortController();
  // Many waits hear one signal, such as those for a class of workspaces.
  shareSignal(stop.signal);
  let isIgnored = false;
  const onSignal = () => {
    if (isIgnored) return;
    if (stop.signal.aborted) process.exit(INTERRUPTED);
    stop.abort(new Interrupted());
    // A call that hangs does not keep the command alive.
    setTimeout(() => process.exit(INTERRUPTED), PATIENCE_MS).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: stop.signal,
    ignoreInterrupts() {
      isIgnored = true;
    },
    stopListening() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
