/** From an author's folder to the artifact: images of the steps named by what is in them, everything else taken over. */
import { createHash } from 'node:crypto';
import { type Clock, rfc3339 } from '../clock.ts';
import type { Artifact, ArtifactStep } from './artifact.ts';
import type { Step, StepFile, Workshop } from './load.ts';

/** Used by steps of workshops that name no image of their own. */
export const DEFAULT_BASE = 'rookery/workspace:latest';

export interface StepImage {
  tag: string;
  contentHash: string;
  /** Instructions after the base. */
  containerFile: string;
  files: StepFile[];
}

export function compile(workshop: Workshop, clock: Clock): Artifact {
  const { name, title, description, navigation } = workshop.workshop;
  const { lifecycle, resources, infrastructure } = workshop;
  const images = stepImages(workshop);
  return {
    name,
    ...(title ? { title } : {}),
    ...(description ? { description } : {}),
    navigation,
    ...(lifecycle ? { lifecycle } : {}),
    ...(resources ? { resources } : {}),
    ...(infrastructure?.cluster ? { cluster: infrastructure.cluster } : {}),
    compiledAt: rfc3339(clock.now()),
    steps: workshop.steps.map((step, index): ArtifactStep => {
      const { commands: _, ...rest } = step;
      const { tag, contentHash } = images[index] as StepImage;
      return { ...rest, imageTag: tag, contentHash };
    }),
  };
}

/** One image per step. Each holds what all steps up to it bring, so that jumping to any step is taking another image. */
export function stepImages(workshop: Workshop): StepImage[] {
  const { name, image = `rookery-workshop/${name}` } = workshop.workshop;
  const base = workshop.containerFile ?? `FROM ${workshop.base?.image ?? DEFAULT_BASE}\n`;
  return workshop.steps.map((step, index) => {
    const before = workshop.steps.slice(0, index + 1);
    const files = [...new Map(before.flatMap((each) => each.files.map((file) => [file.path, file]))).values()];
    const containerFile = `${base.trimEnd()}\n${before.map(layer).join('')}`;
    return { tag: `${image}:${step.id}`, contentHash: hashOf(containerFile, files), containerFile, files };
  });
}

function layer({ id, files, env = {}, commands = [] }: Step): string {
  const lines = [`# ${id}`];
  // Permissions come with the files: not every builder knows `--chmod`.
  for (const { path } of files) lines.push(`COPY ${JSON.stringify([path, `/root/${path}`])}`);
  for (const [name, value] of Object.entries(env)) lines.push(`ENV ${name}=${JSON.stringify(value)}`);
  for (const command of commands) lines.push(`RUN ${JSON.stringify(['/bin/sh', '-c', command])}`);
  return `${lines.join('\n')}\n`;
}

function hashOf(containerFile: string, files: readonly StepFile[]): string {
  const hash = createHash('sha256').update(containerFile);
  for (const { path, mode, content } of files) hash.update(`\0${path}\0${mode}\0${content.length}\0`).update(content);
  return hash.digest('hex');
}
