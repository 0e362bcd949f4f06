/** One call of one webhook: from the dry-run rule to the verdict; failures and denials in the real server's words. */
import type { KubeObject } from '../../../api/object.ts';
import type { Clock, Random } from '../../../clock.ts';
import { ApiError, badRequest, timeout } from '../../status.ts';
import { SetupError } from '../../webhook-client/call-error.ts';
import type { WebhookClient } from '../../webhook-client/webhook-client.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { Hook } from './hook.ts';
import type { Invocation } from './match.ts';
import { requestOf, reviewText, reviewVersion, type Verdict, verdictOf } from './review.ts';

export interface CallContext {
  client: WebhookClient;
  clock: Clock;
  random: Random;
}

/** The webhook could not be asked, or its answer was none: `failurePolicy` says what that means. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';

  constructor(hook: Hook, reason: string) {
    super(`failed calling webhook ${JSON.stringify(hook.name)}: ${reason}`);
  }
}

/** The verdict, which allows the request. Throws CallFailure, or ApiError when the request is denied. */
export async function callHook(
  context: CallContext,
  invocation: Invocation,
  attributes: AdmissionAttributes,
  object: KubeObject | undefined,
  old: KubeObject | undefined,
  mutating: boolean,
): Promise<Verdict> {
  const { hook } = invocation;
  if (attributes.dryRun) checkDryRun(hook);
  const version = reviewVersion(hook);
  if (!version) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new CallFailure(hook, `could not create admission objects: ${why}`);
  }
  const uid = context.random.uuid();
  const text = await reviewText(uid, version, requestOf(attributes, invocation), object, old);
  const answer = await context.client
    .call(hook.clientConfig, text, timeFor(hook, attributes, context.clock))
    .catch((error: Error) => {
      const stage = error instanceof SetupError ? 'could not get REST client' : 'failed to call webhook';
      throw new CallFailure(hook, `${stage}: ${error.message}`);
    });
  const verdict = checked(hook, () => verdictOf(answer, version, uid, mutating));
  for (const warning of verdict.warnings) attributes.warnings?.push(warning);
  for (const [key, value] of Object.entries(verdict.auditAnnotations))
    annotate(attributes, `${hook.name}/${key}`, value);
  if (!verdict.allowed) throw denial(hook, verdict.result ?? {});
  return { ...verdict, size: text.length };
}

export function annotate(attributes: AdmissionAttributes, key: string, value: string): void {
  attributes.annotations ??= {};
  attributes.annotations[key] ??= value;
}

/** Of what a request may take as a whole, a webhook gets no more than is left. */
function timeFor(hook: Hook, { deadline }: AdmissionAttributes, clock: Clock): number {
  const left = (deadline ?? Number.POSITIVE_INFINITY) - clock.now();
  if (left <= 0) throw outOfTime();
  return Math.min(hook.timeoutMs, left);
}

export function outOfTime(): ApiError {
  return timeout('Timeout: request did not complete within requested timeout');
}

function checkDryRun({ name, sideEffects }: Hook): void {
  if (sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return;
  throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
}

function checked(hook: Hook, read: () => Verdict): Verdict {
  try {
    return read();
  } catch (error) {
    throw new CallFailure(hook, `received invalid webhook response: ${(error as Error).message}`);
  }
}

/** The Status the webhook gave, made to be a failure that names the webhook. */
function denial({ name }: Hook, status: Record<string, unknown>): ApiError {
  const { code, reason, message, details } = status;
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = message || reason;
  return new ApiError(
    isFailure(code) ? code : 400,
    typeof reason === 'string' ? reason : '',
    why ? `${denied}: ${why}` : `${denied} without explanation`,
    (typeof details === 'object' && details !== null ? details : undefined) as ApiError['details'],
  );
}

/** Others cannot be sent. */
function isFailure(code: unknown): code is number {
  return Number.isInteger(code) && (code as number) >= 400 && (code as number) <= 999;
}
