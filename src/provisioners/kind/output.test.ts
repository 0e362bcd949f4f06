import { expect, it } from 'vitest';
import { lastLines } from '../docker-cluster/tool-output.ts';
import { meaningOf, stepOf } from './output.ts';

const RUNNING = `Creating cluster "dev" ...
 • Ensuring node image (kindest/node:v1.35.8) 🖼  ...
 ✓ Ensuring node image (kindest/node:v1.35.8) 🖼
 • Preparing nodes 📦 📦   ...
`;

it('names the step under way', () => {
  expect(stepOf('')).toBeUndefined();
  expect(stepOf(RUNNING)).toBe('Preparing nodes');
  expect(stepOf(`${RUNNING} ✓ Preparing nodes 📦 📦 \n • Starting control-plane 🕹️  ...\n`)).toBe(
    'Starting control-plane',
  );
});

it('knows what failures mean', () => {
  const reason = (text: string) => meaningOf(text).reason;
  expect(reason('docker: Error response from daemon: Bind for 0.0.0.0:80 failed: port is already allocated.')).toBe(
    'PortTaken',
  );
  expect(reason('ERROR: failed to create cluster: failed to pull image "kindest/node:v1"')).toBe('ImageUnavailable');
  expect(reason('write /x: no space left on device')).toBe('DiskFull');
  expect(reason('ERROR: failed to create cluster: node(s) already exist for a cluster with the name "dev"')).toBe(
    'NameTaken',
  );
  expect(reason('ERROR: failed to create cluster: failed to init node with kubeadm: command …')).toBe('KubeadmFailed');
});

it('passes on what the failed command said when it knows no better', () => {
  const text =
    'ERROR: failed to create cluster: command "docker run …" failed with error: exit status 125\nCommand Output: docker: odd.';
  expect(meaningOf(text)).toMatchObject({ reason: 'KindFailed', means: 'docker: odd.' });
  expect(lastLines('a\n\nb\n', 1)).toEqual(['b']);
});
