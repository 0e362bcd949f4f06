/** `rookery workspace check`: runs the checks of the step a workspace is at, as its page does. Ends with 1 when one fails. */
import { RookeryError } from '../errors.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { print } from './output.ts';
import { findWorkspace } from './workspace-lookup.ts';
import { linkTo, nothingServes } from './workspace-open.ts';

interface Result {
  name: string;
  passed: boolean;
  message?: string;
}

const PASS_MS = 60_000;

export async function checkWorkspace(options: GlobalOptions & { namespace?: string }, name: string): Promise<void> {
  const { home, state, store, signal, isHosted, close } = await connect(options);
  try {
    if (isHosted) throw nothingServes();
    const instance = await findWorkspace(store, name, options.namespace);
    const link = new URL(await linkTo(store, home, instance, 'student', PASS_MS));
    const { namespace, name: own } = instance.metadata;
    const response = await fetch(new URL(`/w/${namespace}/${own}/check`, state.webUrl ?? link), {
      method: 'POST',
      headers: { cookie: `pass=${link.searchParams.get('link')}` },
      signal,
    });
    const { checks, message } = (await response.json()) as { checks?: Result[]; message?: string };
    if (!checks) throw new RookeryError('workspace.check', `${name}: ${message}`, { class: 'retryable' });
    await print(options.output, { step: instance.status?.currentStep, checks }, () => told(checks));
    if (checks.some(({ passed }) => !passed)) process.exitCode = 1;
  } finally {
    await close();
  }
}

function told(checks: readonly Result[]): string {
  if (checks.length === 0) return 'the step has no checks\n';
  const lines = checks.flatMap(({ name, passed, message }) => [
    `${passed ? '✓' : '✗'} ${name}`,
    ...(passed || !message ? [] : message.split('\n').map((line) => `    ${line}`)),
  ]);
  return `${lines.join('\n')}\n`;
}
