import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { progressView } from './progress-view.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const blocked = (message: string): KubeObject => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'K3dCluster',
  metadata: { name: 'dev' },
  status: { history: [{ timestamp: new Date().toISOString(), message }] },
});

function plain() {
  const lines: string[] = [];
  const terminal = { isTTY: false, columns: 80, rows: 24, write: (text: string) => void lines.push(text) };
  return { lines, view: progressView({ title: 'dev', output: 'table', terminal, env: {} }) };
}

it('says in a pipe what has stood still from the start', () => {
  const { lines, view } = plain();
  const object = blocked('k3d is not here');
  view.see(object);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(500);
  expect(lines).toEqual(['  k3d is not here\n']);
  view.see(object);
  expect(lines).toHaveLength(1);
});

it('says nothing of what is done at once', () => {
  const { lines, view } = plain();
  view.see(blocked('a moment'));
  view.end(true);
  vi.advanceTimersByTime(5000);
  expect(lines).toEqual([]);
});
