/**
 * What is refused when it is written because another object says so: overrides that a template locks, steps that it does not have or that are not open yet, templates that are on their way out; and of templates,
 * requirements that nobody can meet.
 */
import type { KubeObject } from '../../api/object.ts';
import { workspaceInstances, workspaceTemplates } from '../../api/resources.ts';
import { type AdmissionPlugin, type FieldError, field, invalid } from '../../apiserver/index.ts';
import { isDeleting } from '../../kube/index.ts';
import { misplacedRequirements, whyLocked } from './navigation.ts';
import { lockedFields, stepIds } from './settings.ts';

export const workspaceAdmission: AdmissionPlugin = {
  name: 'Workspaces',
  handles: ({ operation, resource, subresource }) =>
    resource.group === workspaceInstances.group &&
    [workspaceInstances.plural, workspaceTemplates.plural].includes(resource.plural) &&
    subresource === '' &&
    (operation === 'CREATE' || operation === 'UPDATE'),
  validate({ resource, object, old, name, store }) {
    // What was accepted once stays: a template that changed since must not keep its workspaces from being deleted.
    if (!object || JSON.stringify(object.spec) === JSON.stringify(old?.spec)) return;
    const templateNamed = (wanted: string): KubeObject | undefined => {
      const place = `${workspaceTemplates.group}/${workspaceTemplates.plural}`;
      return store.get({ resource: place, namespace: '', name: wanted })?.object();
    };
    const errors =
      resource.plural === workspaceTemplates.plural ? ofTemplate(object) : ofInstance(object, old, templateNamed);
    if (errors.length > 0) throw invalid(resource.group, resource.kind, name, errors);
  },
};

function ofTemplate(template: KubeObject): FieldError[] {
  return misplacedRequirements(template).map(({ field: path, value, rule }) => field.invalid(path, value, rule));
}

function ofInstance(
  instance: KubeObject,
  old: KubeObject | undefined,
  templateNamed: (name: string) => KubeObject | undefined,
): FieldError[] {
  const template = templateNamed(instance.spec?.templateRef?.name ?? '');
  if (!template) return []; // It may come later; the workspace says that it waits for it.
  if (!old && isDeleting(template)) {
    const rule = `the template ${template.metadata.name} is being deleted: it goes when its last workspace has gone`;
    return [field.forbidden('spec.templateRef.name', rule)];
  }
  const errors = lockedFields(template, instance).map((locked) => field.forbidden(locked.field, locked.rule));
  const { currentStep } = instance.spec;
  if (currentStep === undefined || currentStep === old?.spec?.currentStep) return errors;
  if (!stepIds(template).includes(currentStep)) {
    return [...errors, field.notSupported('spec.currentStep', currentStep, stepIds(template))];
  }
  const rule = whyLocked(template, { ...instance, status: old?.status }, currentStep);
  return rule ? [...errors, field.forbidden('spec.currentStep', `step ${currentStep}: ${rule}`)] : errors;
}
