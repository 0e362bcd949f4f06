/** What is refused when a workspace is written, because its template says so: overrides that are locked, steps that do not exist. */
import { workspaceInstances, workspaceTemplates } from '../../api/resources.ts';
import { type AdmissionPlugin, type FieldError, field, invalid } from '../../apiserver/index.ts';
import { lockedFields, stepIds } from './settings.ts';

export const workspaceAdmission: AdmissionPlugin = {
  name: 'Workspaces',
  handles: ({ operation, resource, subresource }) =>
    resource.group === workspaceInstances.group &&
    resource.plural === workspaceInstances.plural &&
    subresource === '' &&
    (operation === 'CREATE' || operation === 'UPDATE'),
  validate({ resource, object, old, name, store }) {
    const template = object?.spec?.templateRef?.name;
    // What was accepted once stays: a template that changed since must not keep its workspaces from being deleted.
    if (!object || !template || JSON.stringify(object.spec) === JSON.stringify(old?.spec)) return;
    const key = { resource: `${workspaceTemplates.group}/${workspaceTemplates.plural}`, namespace: '', name: template };
    const found = store.get(key)?.object();
    if (!found) return; // It may come later; the workspace says that it waits for it.
    const errors: FieldError[] = lockedFields(found, object).map((locked) =>
      field.forbidden(locked.field, locked.rule),
    );
    const { currentStep } = object.spec;
    if (currentStep !== undefined && !stepIds(found).includes(currentStep)) {
      errors.push(field.notSupported('spec.currentStep', currentStep, stepIds(found)));
    }
    if (errors.length > 0) throw invalid(resource.group, resource.kind, name, errors);
  },
};
