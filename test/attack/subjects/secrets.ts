/** Secrets at rest, in logs and in files. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { held, type Subject } from '../attack.ts';
import { CANARY, done, named, type Scene } from '../scene.ts';

const PLAIN = 'plain-text-of-a-secret-value';

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

async function writtenSecret({ red, rookery }: Scene): Promise<string[]> {
  await done(
    red.http.post('/api/v1/namespaces/default/secrets', {
      ...named('v1', 'Secret', `sealed-${Date.now()}`),
      stringData: { value: PLAIN },
    }),
  );
  return filesBelow(rookery.home);
}

export const secrets: Subject = {
  name: 'secrets at rest',
  attacks: [
    {
      name: 'looks for the value of a Secret in every file of the home',
      run: async (scene) => {
        const forms = [PLAIN, Buffer.from(PLAIN).toString('base64'), Buffer.from(CANARY).toString('base64')];
        for (const file of await writtenSecret(scene)) {
          const content = readFileSync(file);
          for (const form of forms) held(!content.includes(form), `${file} contains it`);
        }
      },
    },
    {
      name: 'looks for tokens in the log',
      run: async ({ rookery, root, red, tenant }) => {
        const log = readFileSync(join(rookery.home, 'rookery.log'), 'utf8');
        for (const { token } of [root, red, tenant]) held(!log.includes(token), 'the log contains a token');
      },
    },
    {
      name: 'reads files of the home as another user of the machine',
      run: async ({ rookery }) => {
        for (const file of filesBelow(rookery.home)) {
          const isOpen = (statSync(file).mode & 0o077) !== 0;
          const isReached = (statSync(rookery.home).mode & 0o077) !== 0;
          held(!isOpen || !isReached, `${file} can be read by others`);
        }
      },
    },
  ],
};
