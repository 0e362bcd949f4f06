import { expect, it } from 'vitest';
import { meaningOf, stepOf } from './output.ts';

const line = (level: string, text: string) =>
  `time="2026-11-15T18:34:32Z" level=${level} msg=${JSON.stringify(text)}\n`;

it('names the step under way', () => {
  expect(stepOf('')).toBeUndefined();
  const output =
    line('info', 'Prep: Network') + line('warning', 'odd') + line('info', "Starting node 'k3d-dev-server-0'");
  expect(stepOf(output)).toBe("Starting node 'k3d-dev-server-0'");
  expect(stepOf('time="x" level=info msg=done\n')).toBe('done');
});

it('knows what failures mean', () => {
  const reason = (text: string) => meaningOf(line('fatal', text)).reason;
  expect(reason('driver failed: Bind for 127.0.0.1:6550 failed: port is already allocated')).toBe('PortTaken');
  expect(reason("docker failed to pull image 'rancher/k3s:v9'")).toBe('ImageUnavailable');
  expect(reason("docker failed to pull the image 'ghcr.io/k3d-io/k3d-proxy:5.9.0'")).toBe('ImageUnavailable');
  expect(reason('could not find an available, non-overlapping IPv4 address pool among the defaults')).toBe(
    'NetworkPoolExhausted',
  );
  expect(reason("Failed to create cluster 'dev' because a cluster with that name already exists")).toBe('NameTaken');
  expect(reason('Node k3d-dev-server-0 failed to get ready: Context deadline exceeded while waiting')).toBe('TimedOut');
  expect(reason('Node k3d-dev-server-0 failed to get ready: stopped returning log lines')).toBe('NodeFailed');
  expect(reason('Cannot connect to the Docker daemon at unix:///var/run/docker.sock')).toBe('DockerUnreachable');
  expect(reason("Failed to find registry node 'k3d-r'")).toBe('RegistryMissing');
  expect(reason('Pool overlaps with other one on this address space')).toBe('SubnetTaken');
  expect(reason('Schema Validation failed for config file')).toBe('SpecRefused');
});

it('passes on what went wrong first when it knows no better', () => {
  const output =
    line('error', 'odd "thing"') + line('fatal', 'Cluster creation FAILED, all changes have been rolled back!');
  expect(meaningOf(output)).toMatchObject({ reason: 'K3dFailed', means: 'odd "thing"' });
  expect(meaningOf('')).toMatchObject({ means: 'k3d failed' });
});
