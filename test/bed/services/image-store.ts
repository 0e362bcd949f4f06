// Gets the bed's images into its engine. The ids are known from the archives, so what is there already is not loaded again.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from '../cache.ts';
import { program } from '../environment.ts';
import { withLock } from '../lock.ts';
import { run, tryRun } from '../process.ts';
import { tagsFile } from '../sources/image.ts';

export async function loadImages(parts: readonly string[], engine: Record<string, string>): Promise<void> {
  const env = { ...process.env, ...engine };
  const docker = program('docker', 'docker');
  await withLock('image-store', async () => {
    for (const part of parts) {
      const wanted = JSON.parse(readFileSync(join(folderOf(part), tagsFile), 'utf8')) as Record<string, string>;
      const found = await Promise.all(
        Object.keys(wanted).map((tag) => tryRun(docker, ['image', 'inspect', '--format', '{{.Id}}', tag], { env })),
      );
      if (Object.values(wanted).every((id, index) => found[index]?.stdout.trim() === id)) continue;
      await run(docker, ['load', '--quiet', '--input', join(folderOf(part), 'image.tar')], { env, timeoutMs: 600_000 });
      // A rebuilt image takes the tag over; the old one would only fill the disk.
      await tryRun(docker, ['image', 'prune', '--force'], { env, timeoutMs: 60_000 });
    }
  });
}
