/** Which steps a workspace may enter. Progress is a set of steps that are done, so that people may go back and on again as they like. */
import type { KubeObject } from '../../api/object.ts';

export interface NavigationStep {
  id: string;
  group?: string;
  requires?: string[];
  checks?: unknown[];
}

/** Names the step that an instructor lets a workspace enter, whatever the order says. */
export const FORCE_ANNOTATION = 'workshop.platform/force-step';

export function stepsOf(template: KubeObject | undefined): NavigationStep[] {
  return template?.spec?.steps ?? [];
}

export function completedSteps(instance: KubeObject): string[] {
  return instance.status?.completedSteps ?? [];
}

/** The rule that keeps a workspace out of a step; undefined where it may enter. Where it has been it may always go. */
export function whyLocked(template: KubeObject, instance: KubeObject, id: string): string | undefined {
  const steps = stepsOf(template);
  const wanted = steps.find((step) => step.id === id);
  if (!wanted || hasBeenAt(instance, id) || instance.metadata.annotations?.[FORCE_ANNOTATION] === id) return undefined;
  const done = new Set(completedSteps(instance));
  const missing = (ids: readonly string[]) => ids.filter((each) => !done.has(each));
  const required = missing(wanted.requires ?? []);
  if (required.length > 0) return `it requires what is not done yet: ${list(required)}`;
  const order = `navigation of the template ${template.metadata.name} is ${template.spec?.navigation}`;
  if (template.spec?.navigation === 'linear') {
    const before = missing(steps.slice(0, steps.indexOf(wanted)).map((step) => step.id));
    if (before.length > 0) return `${order}, and what comes before it is not done yet: ${list(before)}`;
  }
  if (template.spec?.navigation === 'guided') {
    const previous = groupBefore(steps, wanted);
    const open = missing(
      steps.filter(({ group }) => previous !== undefined && group === previous).map((step) => step.id),
    );
    if (open.length > 0) return `${order}, and the group before it (${previous}) is not done yet: ${list(open)}`;
  }
  return undefined;
}

export interface MisplacedRequirement {
  /** `spec.steps[2].requires[0]`. */
  field: string;
  value: string;
  rule: string;
}

/** What steps require has to come before them: so there are no circles, and everything can be reached. */
export function misplacedRequirements(template: KubeObject): MisplacedRequirement[] {
  const steps = stepsOf(template);
  const ids = steps.map(({ id }) => id);
  return steps.flatMap(({ id, requires = [] }, index) =>
    requires.flatMap((value, at) => {
      const place = ids.indexOf(value);
      if (place >= 0 && place < index) return [];
      const rule = place < 0 ? `there is no step ${value}` : `${value} does not come before ${id}`;
      return [{ field: `spec.steps[${index}].requires[${at}]`, value, rule }];
    }),
  );
}

function hasBeenAt({ status }: KubeObject, id: string): boolean {
  const history: { step: string }[] = status?.stepHistory ?? [];
  return status?.currentStep === id || history.some(({ step }) => step === id);
}

function groupBefore(steps: readonly NavigationStep[], { group }: NavigationStep): string | undefined {
  const groups = [...new Set(steps.map((step) => step.group).filter((each) => each !== undefined))];
  return group === undefined ? undefined : groups[groups.indexOf(group) - 1];
}

function list(ids: readonly string[]): string {
  return ids.join(', ');
}
