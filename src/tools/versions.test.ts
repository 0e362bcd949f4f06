import { expect, it } from 'vitest';
import { compareVersions, findVersion, inRange, matches, parseWanted } from './versions.ts';

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
  expect(() => parseWanted('1.35.8+k3s1')).toThrow('no Kubernetes version that can be chosen here');
});
