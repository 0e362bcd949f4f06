/** Step images, made by Docker and cached by content: an image whose label says what it was made from is not made again. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RookeryError } from '../errors.ts';
import { Docker } from '../tools/docker.ts';
import type { Processes } from '../tools/processes.ts';
import type { StepImage } from './compile.ts';

const CONTENT_LABEL = 'rookery.dev/content';
const BUILD_TIMEOUT_MS = 30 * 60_000;

export type ImageOutcome = { tag: string; state: 'present' | 'built' };

export async function buildImage(
  image: StepImage,
  { processes, scratch, signal, onOutput }: BuildParts,
): Promise<ImageOutcome> {
  const format = `{{index .Config.Labels ${JSON.stringify(CONTENT_LABEL)}}}`;
  const known = await processes.run('docker', ['image', 'inspect', '--format', format, '--', image.tag], { signal });
  if (known.code === 0 && known.stdout.trim() === image.contentHash) return { tag: image.tag, state: 'present' };
  const context = await mkdtemp(join(scratch, 'image-'));
  try {
    for (const { path, content, mode } of image.files) {
      const file = join(context, 'files', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      await chmod(file, Number.parseInt(mode, 8));
    }
    await mkdir(join(context, 'files'), { recursive: true });
    await writeFile(join(context, 'Containerfile'), image.containerFile);
    const args = ['build', '--file', join(context, 'Containerfile'), '--tag', image.tag];
    args.push('--label', `${CONTENT_LABEL}=${image.contentHash}`, '--', join(context, 'files'));
    // Which builder it is, Docker decides: nothing here needs the newer one, and not every machine has it.
    const options = { signal, onOutput, timeoutMs: BUILD_TIMEOUT_MS };
    const { code, stderr } = await processes.run('docker', args, options);
    if (code !== 0) {
      const last = stderr.trim().split('\n').slice(-5).join('\n');
      throw new RookeryError('workshop.image', `the image ${image.tag} could not be made:\n${last}`, {
        class: 'user',
        hint: 'correct the commands of the step or the base image; `rookery doctor` checks Docker itself',
      });
    }
    return { tag: image.tag, state: 'built' };
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

/** Asked before the first image: without Docker there is none, and that is no fault of the workshop. */
export async function requireDocker(processes: Processes, signal?: AbortSignal): Promise<void> {
  await new Docker(processes).version(signal).catch((error: unknown) => {
    if (!(error instanceof RookeryError)) throw error;
    const hint = 'get Docker running (`rookery doctor`), or make the artifact alone: --no-images';
    throw new RookeryError('workshop.docker', `step images are made by Docker: ${error.message}`, {
      class: 'user',
      hint,
      cause: error,
    });
  });
}

export interface BuildParts {
  processes: Processes;
  /** A folder for build contexts. */
  scratch: string;
  signal?: AbortSignal;
  onOutput?: (text: string) => void;
}
