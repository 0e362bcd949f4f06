/** ValidatingAdmissionWebhook: all at once, since none changes anything; the first that refuses is the answer. */
import { internalError } from '../../status.ts';
import { Turns } from '../../turns.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { annotate, CallFailure, callHook } from './call-hook.ts';
import { isExempt } from './exempt.ts';
import { formsOf } from './forms.ts';
import { type Forms, type Invocation, invocationOf } from './match.ts';
import type { WebhookContext } from './mutating.ts';

export function validatingWebhooks(context: WebhookContext): AdmissionPlugin {
  return {
    name: 'ValidatingAdmissionWebhook',
    external: true,
    handles: (attributes) => context.configurations.validating.length > 0 && !isExempt(attributes),
    async validate(attributes) {
      const forms = formsOf(attributes);
      const invocations: Invocation[] = [];
      const turns = new Turns();
      for (const hook of context.configurations.validating) {
        await turns.pause();
        const invocation = await invocationOf(hook, attributes, context, forms);
        if (invocation) invocations.push(invocation);
      }
      // In the order they come back, as the real server takes them.
      const refusals: unknown[] = [];
      const calls = invocations.map((invocation, index) =>
        ask(context, invocation, attributes, forms, index).catch((error: unknown) => refusals.push(error)),
      );
      await Promise.all(calls);
      if (refusals.length > 0) throw refusals[0];
    },
  };
}

async function ask(
  context: WebhookContext,
  invocation: Invocation,
  attributes: AdmissionAttributes,
  forms: Forms,
  index: number,
): Promise<void> {
  const { hook, resource } = invocation;
  try {
    const [object, old] = [await forms.object(resource), await forms.old(resource)];
    await callHook(context, invocation, attributes, object, old, false);
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (!hook.ignoresFailure) throw internalError(error);
    annotate(attributes, `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`, hook.name);
  }
}
