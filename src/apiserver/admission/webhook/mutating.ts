/**
 * MutatingAdmissionWebhook: one after the other, each sees what those before it made of the object. When one of them
 * changed it, everything that mutates looks once more; of the webhooks only those that asked for it.
 */
import type { KubeObject, ManagedFieldsEntry } from '../../../api/object.ts';
import { decodeManagers } from '../../apply/managers.ts';
import { convertTo } from '../../handlers/conversion.ts';
import { clone, equal } from '../../json.ts';
import { internalError } from '../../status.ts';
import { Turns, yieldTurn } from '../../turns.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { annotate, type CallContext, CallFailure, callHook, outOfTime } from './call-hook.ts';
import type { WebhookConfigurations } from './configurations.ts';
import { isExempt } from './exempt.ts';
import { formsOf } from './forms.ts';
import type { Hook } from './hook.ts';
import { type Invocation, invocationOf, type Surroundings } from './match.ts';
import { operationsOf, patched } from './patched.ts';

export interface WebhookContext extends CallContext, Surroundings {
  configurations: WebhookConfigurations;
}

/** What the second round has to know of the first. */
interface Rounds {
  /** Called, and to be called again if something changes after them. */
  invoked: Set<string>;
  again: Set<string>;
  /** The object as the webhooks left it. */
  output?: KubeObject;
}

export function mutatingWebhooks(context: WebhookContext): AdmissionPlugin {
  const rounds = new WeakMap<AdmissionAttributes, Rounds>();
  return {
    name: 'MutatingAdmissionWebhook',
    external: true,
    handles: (attributes) => context.configurations.mutating.length > 0 && !isExempt(attributes),
    async mutate(attributes) {
      const known = rounds.get(attributes) ?? { invoked: new Set(), again: new Set() };
      rounds.set(attributes, known);
      const isSecond = attributes.round === 1;
      if (isSecond && !equal(known.output, attributes.object)) requireAgain(known);
      const before = attributes.object?.metadata?.managedFields;
      const turns = new Turns();
      for (const [index, hook] of context.configurations.mutating.entries()) {
        await turns.pause();
        await visit(context, hook, attributes, known, `round_${isSecond ? 1 : 0}_index_${index}`);
      }
      keepManagedFields(attributes, before);
      if (attributes.again && !isSecond) known.output = clone(attributes.object);
    },
  };
}

async function visit(
  context: WebhookContext,
  hook: Hook,
  attributes: AdmissionAttributes,
  known: Rounds,
  place: string,
): Promise<void> {
  const forms = formsOf(attributes);
  const invocation = await invocationOf(hook, attributes, context, forms);
  // One that was not called in the first round is not called in the second either, whatever its labels say now.
  if (!invocation || (attributes.round === 1 && !known.again.has(hook.uid))) return;
  try {
    const { resource } = invocation;
    const [object, old] = [await forms.object(resource), await forms.old(resource)];
    const changed = await ask(context, invocation, attributes, object, old);
    if (changed) {
      // A subresource's own kind (Scale) has one version, whatever that of the resource is.
      const isSame = resource === attributes.resource || attributes.kind !== undefined;
      attributes.object = isSame ? changed : await convertTo(attributes.resource, changed);
      requireAgain(known);
      attributes.again = true;
    }
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (!hook.ignoresFailure) throw internalError(error);
    annotate(attributes, `failed-open.mutation.webhook.admission.k8s.io/${place}`, hook.name);
    if ((attributes.deadline ?? Number.POSITIVE_INFINITY) <= context.clock.now()) throw outOfTime();
  }
  if (hook.isReinvocable) known.invoked.add(hook.uid);
}

/** The object as the webhook wants it, or undefined where that is how it is. */
async function ask(
  context: WebhookContext,
  invocation: Invocation,
  attributes: AdmissionAttributes,
  object: KubeObject | undefined,
  old: KubeObject | undefined,
): Promise<KubeObject | undefined> {
  const verdict = await callHook(context, invocation, attributes, object, old, true);
  const operations = operationsOf(invocation.hook, verdict);
  if (operations.length === 0) return undefined;
  const result = await patched(invocation, operations, object, verdict.size);
  await yieldTurn(verdict.size);
  if (equal(result, object)) return undefined;
  if (!attributes.kind) invocation.resource.strategy.defaults?.(result);
  return result;
}

function requireAgain(known: Rounds): void {
  for (const uid of known.invoked) known.again.add(uid);
  known.invoked.clear();
}

/** A webhook made by an old library may garble who manages what; the request's own record is better then. */
function keepManagedFields(attributes: AdmissionAttributes, before: ManagedFieldsEntry[] | undefined): void {
  const metadata = attributes.object?.metadata;
  if (!metadata || metadata.managedFields === before) return;
  try {
    decodeManagers(metadata.managedFields, false);
  } catch (error) {
    if (before) metadata.managedFields = before;
    else delete metadata.managedFields;
    attributes.warnings?.push(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${(error as Error).message}`,
    );
  }
}
