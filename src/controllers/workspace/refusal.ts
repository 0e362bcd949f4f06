/** Why a workspace cannot be made as it is written: only a change by a person helps. */
import type { KubeObject } from '../../api/object.ts';
import { whyLocked } from './navigation.ts';
import { lockedFields, stepIds } from './settings.ts';

export interface Refusal {
  reason: string;
  message: string;
}

/** Refused when it was written, unless the template came or changed later. */
export function refusal(template: KubeObject, instance: KubeObject): Refusal | undefined {
  const locked = lockedFields(template, instance);
  if (locked.length > 0) {
    const rules = locked.map(({ field, rule }) => `${field}: ${rule}`);
    const message = [...rules, 'Next: take it out of spec.overrides, or let the template allow it'].join('\n');
    return { reason: 'OverrideLocked', message };
  }
  const { currentStep } = instance.spec ?? {};
  const steps = stepIds(template);
  if (currentStep && !steps.includes(currentStep)) {
    const known = steps.length > 0 ? `it has ${steps.join(', ')}` : 'it has none';
    const message = `spec.currentStep: the template ${template.metadata.name} has no step ${currentStep}; ${known}`;
    return {
      reason: 'UnknownStep',
      message: `${message}\nNext: rookery workspace step ${instance.metadata.name} <step>`,
    };
  }
  const rule = currentStep && whyLocked(template, instance, currentStep);
  if (!rule) return undefined;
  const next = `Next: rookery workspace step ${instance.metadata.name} ${currentStep} --force, or another step`;
  return { reason: 'StepLocked', message: `spec.currentStep: step ${currentStep}: ${rule}\n${next}` };
}

export function missingTemplate(instance: KubeObject): Refusal {
  const { name } = instance.spec?.templateRef ?? {};
  const message = `there is no WorkspaceTemplate ${name}\nNext: it goes on as soon as there is; see \`rookery template list\``;
  return { reason: 'TemplateMissing', message };
}
