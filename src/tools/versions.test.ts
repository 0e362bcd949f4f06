import { expect, it } from 'vitest';
import {
  compareVersions,
  exactVersion,
  findVersion,
  imageTag,
  inRange,
  matches,
  parseWanted,
  versionText,
} from './versions.ts';

it('finds the version in what tools print', () => {
  expect(findVersion('kind v0.33.0 go1.27.2 linux/amd64')).toEqual([0, 33, 0]);
  expect(findVersion('Client Version: v1.35.8\nKustomize Version: v5.7.1')).toEqual([1, 35, 8]);
  expect(findVersion('unknown')).toBeUndefined();
});

it('orders by numbers, not by letters', () => {
  expect(compareVersions([1, 34, 11], [1, 34, 8])).toBeGreaterThan(0);
  expect(inRange([0, 33, 0], '>=0.29.0 <0.34.0')).toBe(true);
  expect(inRange([0, 34, 0], '>=0.29.0 <0.34.0')).toBe(false);
});

it('tells a minor from an exact patch, and refuses the rest', () => {
  expect(parseWanted('v1.35')).toEqual({ major: 1, minor: 35 });
  expect(parseWanted('1.35.8')).toEqual({ major: 1, minor: 35, patch: 8 });
  expect(matches([1, 35, 8], parseWanted('1.35'))).toBe(true);
  expect(matches([1, 35, 8], parseWanted('1.35.7'))).toBe(false);
  expect(() => parseWanted('1.35.8-rc.1')).toThrow('no Kubernetes version that can be chosen here');
});

it('knows the releases of k3s, by their names and by the tags of their images', () => {
  expect(findVersion('k3s version v1.35.0+k3s1 (a6c6cd15)')).toEqual([1, 35, 0, 1]);
  expect(findVersion('rancher/k3s:v1.35.0-k3s1')).toEqual([1, 35, 0, 1]);
  expect(versionText([1, 35, 0, 1])).toBe('v1.35.0+k3s1');
  expect(imageTag('v1.35.0+k3s1')).toBe('v1.35.0-k3s1');
  expect(compareVersions([1, 34, 3, 3], [1, 34, 3, 1])).toBeGreaterThan(0);
  expect(parseWanted('1.35.0-k3s1')).toEqual({ major: 1, minor: 35, patch: 0, build: 1 });
  expect(matches([1, 35, 0, 3], parseWanted('1.35.0'))).toBe(true);
  expect(matches([1, 35, 0, 3], parseWanted('v1.35.0+k3s1'))).toBe(false);
  expect(matches([1, 35, 0], parseWanted('v1.35.0+k3s1'))).toBe(false);
});

it('takes no pre-release and no variant for the version it resembles', () => {
  expect(exactVersion('v1.35.0-k3s1')).toEqual([1, 35, 0, 1]);
  expect(exactVersion('v1.36.0-rc.1')).toBeUndefined();
  expect(exactVersion('v1.35.0-k3s1-arm64')).toBeUndefined();
});
