/** `rookery workshop check`, `rookery workshop build compile` */

import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemClock } from '../clock.ts';
import { RookeryError } from '../errors.ts';
import { systemProcesses } from '../tools/processes.ts';
import { writeArtifact } from '../workshop/artifact.ts';
import { compile, stepImages } from '../workshop/compile.ts';
import { buildImage, requireDocker } from '../workshop/images.ts';
import { loadWorkshop, type Workshop } from '../workshop/load.ts';
import { problemText } from '../workshop/problem.ts';
import { type GlobalOptions, homeOf } from './connect.ts';
import { print } from './output.ts';

export async function checkWorkshop(options: GlobalOptions, folder: string): Promise<void> {
  const { workshop, problems } = await loadWorkshop(resolve(folder));
  await print(options.output, { problems }, () =>
    workshop ? `${workshop.workshop.name}: ${workshop.steps.length} steps, nothing wrong\n` : '',
  );
  if (!workshop) throw wrong(problems.map(problemText));
}

interface CompileOptions extends GlobalOptions {
  artifact?: string;
  images: boolean;
}

export async function compileWorkshop(options: CompileOptions, folder: string): Promise<void> {
  const workshop = await load(folder);
  const images: { tag: string; state: string }[] = [];
  if (options.images) {
    const scratch = join(homeOf(options).path, 'tmp');
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    const processes = systemProcesses();
    await requireDocker(processes);
    for (const image of stepImages(workshop)) {
      if (options.output === 'table') process.stderr.write(`image ${image.tag} …\n`);
      images.push(await buildImage(image, { processes, scratch }));
    }
  }
  const artifact = resolve(options.artifact ?? join(folder, `${workshop.workshop.name}.sqlite`));
  await writeArtifact(artifact, compile(workshop, systemClock));
  await print(options.output, { artifact, images }, () =>
    [
      ...images.map(({ tag, state }) => `image ${tag} ${state === 'present' ? 'is unchanged' : 'made'}`),
      `artifact ${artifact}`,
      `  rookery template sync ${artifact}`,
      '',
    ].join('\n'),
  );
}

export async function load(folder: string): Promise<Workshop> {
  const { workshop, problems } = await loadWorkshop(resolve(folder));
  if (!workshop) throw wrong(problems.map(problemText));
  return workshop;
}

function wrong(texts: string[]): RookeryError {
  const count = texts.length === 1 ? 'a problem' : `${texts.length} problems`;
  return new RookeryError('workshop.wrong', `the workshop has ${count}\n  ${texts.join('\n  ')}`, { class: 'user' });
}
