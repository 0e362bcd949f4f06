// `make attack`: hostile users against a built control plane on this machine.
//   --only <regexp>   only attacks whose subject or name matches; then nothing is written to docs/security.md
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Subject } from './attack.ts';
import { withOutcomes } from './document.ts';
import { isInOwnNetwork, runInOwnNetwork } from './own-network.ts';
import { type Outcome, runAttacks } from './run.ts';
import { openScene } from './scene.ts';
import { authentication } from './subjects/authentication.ts';
import { bodies } from './subjects/bodies.ts';
import { certificates } from './subjects/certificates.ts';
import { damage } from './subjects/damage.ts';
import { disks } from './subjects/disks.ts';
import { floodAttacks } from './subjects/floods.ts';
import { host } from './subjects/host.ts';
import { kubeconfigs } from './subjects/kubeconfigs.ts';
import { paths } from './subjects/paths.ts';
import { roles } from './subjects/roles.ts';
import { secrets } from './subjects/secrets.ts';
import { webhooks } from './subjects/webhooks.ts';
import { workspaces } from './subjects/workspaces.ts';

const SUBJECTS: readonly Subject[] = [
  authentication,
  paths,
  roles,
  host,
  kubeconfigs,
  certificates,
  webhooks,
  workspaces,
  bodies,
  floodAttacks,
  secrets,
  disks,
  damage,
];

const document = fileURLToPath(new URL('../../docs/security.md', import.meta.url));
const { values } = parseArgs({ options: { only: { type: 'string' } } });

function chosen(only: RegExp | undefined): Subject[] {
  return SUBJECTS.map(({ name, attacks }) => ({
    name,
    attacks: attacks.filter((attack) => !only || only.test(`${name}: ${attack.name}`)),
  }));
}

async function main(): Promise<number> {
  const only = values.only ? new RegExp(values.only) : undefined;
  const outcomes: Outcome[] = [];
  const scene = await openScene();
  try {
    for await (const outcome of runAttacks(chosen(only), scene)) {
      outcomes.push(outcome);
      const { subject, attack, failure } = outcome;
      console.log(
        `${failure === undefined ? 'withstood' : 'NOT WITHSTOOD'}  ${subject}: ${attack}${failure ? `: ${failure}` : ''}`,
      );
    }
  } finally {
    await scene.close();
  }
  const failed = outcomes.filter(({ failure }) => failure !== undefined).length;
  const about = `${new Date().toISOString().slice(0, 10)}, Node ${process.version}`;
  if (!only) writeFileSync(document, withOutcomes(readFileSync(document, 'utf8'), outcomes, about));
  console.log(`${outcomes.length - failed} passed, ${failed} failed`);
  return failed === 0 && outcomes.length > 0 ? 0 : 1;
}

process.exitCode = isInOwnNetwork() ? await main() : runInOwnNetwork();
