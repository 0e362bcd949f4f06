import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { readArtifact, writeArtifact } from './artifact.ts';
import { compile, stepImages } from './compile.ts';
import { type Loaded, loadWorkshop, type Workshop } from './load.ts';
import { problemText } from './problem.ts';
import { templateOf } from './template.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workshop-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = async (files: Record<string, string>): Promise<void> => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
};
const GOOD = {
  'workshop.yaml':
    'version: v1\nworkshop:\n  name: demo\n  image: myorg/demo\ninfrastructure:\n  cluster: { version: 1.35 }\nsteps:\n  - intro\n  - deploy\n',
  'steps/intro/step.yaml': 'title: Introduction\n',
  'steps/intro/content.md': '# Hello\n',
  'steps/deploy/step.yaml':
    'title: Deploy\nrequires: [intro]\ncluster: reset\nfiles:\n  - source: app.sh\n    target: bin/app.sh\ncommands: [echo hi]\nchecks:\n  - name: it runs\n    run: kubectl get pods\n    stdout: ["/web-.*Running/"]\n',
  'steps/deploy/content.md': '# Deploy\n',
  'steps/deploy/app.sh': '#!/bin/sh\n',
  'steps/deploy/goss.yaml':
    'command:\n  kubectl get deploy web:\n    exit-status: 0\n    stdout: [web]\nfile:\n  /tmp/x:\n    exists: false\n',
  'steps/deploy/manifests/ns.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n',
};
const texts = ({ problems }: Loaded) => problems.map(problemText);

describe('a good workshop', () => {
  it('is read whole', async () => {
    await write(GOOD);
    await chmod(join(folder, 'steps/deploy/app.sh'), 0o755);
    const { workshop, problems } = await loadWorkshop(folder);
    expect(problems).toEqual([]);
    const [intro, deploy] = (workshop as Workshop).steps;
    expect(intro).toMatchObject({ id: 'intro', title: 'Introduction', content: '# Hello\n', files: [], checks: [] });
    expect(deploy?.files).toMatchObject([{ path: 'bin/app.sh', mode: '0755' }]);
    expect(deploy?.checks).toEqual([
      { name: 'it runs', run: 'kubectl get pods', stdout: ['/web-.*Running/'] },
      {
        name: 'kubectl get deploy web',
        run: 'kubectl get deploy web',
        exitCode: 0,
        stdout: ['web'],
        timeoutSeconds: 10,
      },
      { name: '/tmp/x is absent', run: "test ! -e '/tmp/x'" },
    ]);
    expect(deploy?.manifests).toContain('name: shop');
  });

  it('goes through its artifact unchanged into a template', async () => {
    await write(GOOD);
    const { workshop } = await loadWorkshop(folder);
    const compiled = compile(workshop as Workshop, systemClock);
    const path = join(folder, 'demo.sqlite');
    await writeArtifact(path, compiled);
    expect(readArtifact(path)).toEqual(compiled);
    expect(templateOf(readArtifact(path))).toMatchObject({
      metadata: { name: 'demo' },
      spec: {
        defaults: { cluster: { mode: 'per-workspace', version: '1.35', provisioner: 'auto' } },
        steps: [
          { id: 'intro', imageTag: 'myorg/demo:intro' },
          { id: 'deploy', imageTag: 'myorg/demo:deploy', cluster: 'reset', files: [{ path: 'bin/app.sh' }] },
        ],
      },
    });
  });

  it('has images that change with what is in them, and hold what came before', async () => {
    await write(GOOD);
    const before = stepImages((await loadWorkshop(folder)).workshop as Workshop);
    await write({ 'steps/deploy/app.sh': '#!/bin/sh\necho new\n' });
    const after = stepImages((await loadWorkshop(folder)).workshop as Workshop);
    expect(after[0]?.contentHash).toBe(before[0]?.contentHash);
    expect(after[1]?.contentHash).not.toBe(before[1]?.contentHash);
    expect(after[1]?.containerFile).toContain('COPY ["bin/app.sh","/root/bin/app.sh"]');
    expect(after[1]?.containerFile).toContain('RUN ["/bin/sh","-c","echo hi"]');
  });
});

describe('a wrong workshop', () => {
  it('is told every problem at once, with file, line and what helps', async () => {
    await write({
      ...GOOD,
      'workshop.yaml':
        'version: v1\nworkshop:\n  name: Demo\n  navigation: sideways\n  colour: red\nsteps:\n  - intro\n  - intro\n',
    });
    expect(texts(await loadWorkshop(folder))).toEqual([
      'workshop.yaml:3: workshop.name: must be made of small letters, digits and dashes, such as step-1-intro',
      'workshop.yaml:4: workshop.navigation: must be one of: linear, free, guided',
      'workshop.yaml:5: workshop.colour: is not known here (remove it, or check its spelling)',
    ]);
    await write({
      'workshop.yaml': 'version: v1\nworkshop: { name: demo }\nsteps:\n  - intro\n  - deploy\n  - gone\n',
      'steps/intro/step.yaml': 'title: ""\nrequires: [deploy]\n',
      'steps/deploy/step.yaml': 'title: Deploy\nfiles:\n  - source: ../intro/content.md\n  - source: nothing\n',
      'steps/deploy/goss.yaml': 'port:\n  tcp:80: {}\n',
      'steps/extra/step.yaml': 'title: Extra\n',
    });
    expect(texts(await loadWorkshop(folder))).toEqual([
      'steps/intro/step.yaml:1: title: must not be empty',
      'steps/deploy/goss.yaml:1: port: is not known here (remove it, or check its spelling)',
      'steps/deploy/step.yaml: files[0].source: ../intro/content.md is outside the folder of the step (copy it there)',
      'steps/deploy/step.yaml: files[1].source: nothing is no file in the folder of the step',
      'steps/gone/step.yaml: does not exist (write it, or remove gone from the steps of workshop.yaml)',
      'workshop.yaml: steps: the folder steps/extra is not among them (add it or remove the folder)',
    ]);
  });

  it('need not even be YAML, or there', async () => {
    expect(texts(await loadWorkshop(folder))).toEqual([
      `workshop.yaml: does not exist in ${folder} (name the folder of a workshop; see examples/kubernetes-101)`,
    ]);
    await write({ 'workshop.yaml': 'version: v1\nsteps: [intro' });
    const [first] = (await loadWorkshop(folder)).problems;
    expect(first).toMatchObject({ file: 'workshop.yaml', line: 2, message: expect.stringMatching(/Flow sequence/) });
  });

  it('has no artifact', async () => {
    await write({ 'x.sqlite': 'no database at all, only text that is long enough to be looked at' });
    expect(() => readArtifact(join(folder, 'x.sqlite'))).toThrow('is no compiled workshop');
    expect(() => readArtifact(join(folder, 'absent.sqlite'))).toThrow('is no compiled workshop');
  });
});
