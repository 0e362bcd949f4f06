import { expect, it } from 'vitest';
import { catalog, chooseImage, releasedVersions } from './catalog.ts';
import { exactVersion, findVersion, inRange } from './versions.ts';

const tool = [0, 33, 0] as const;
const tag = (version: string) => ({ tag: `kindest/node:${version}` });

it('takes the newest patch that is here, and fetches only when there is none', () => {
  const local = [tag('v1.35.2'), tag('v1.35.10'), tag('v1.34.3')];
  expect(chooseImage('kind', { wanted: '1.35', tool, local })).toEqual({
    version: 'v1.35.10',
    image: 'kindest/node:v1.35.10',
    isPresent: true,
  });
  expect(chooseImage('kind', { wanted: '1.36', tool, local })).toMatchObject({ version: 'v1.36.4', isPresent: false });
  expect(chooseImage('kind', { wanted: '1.36', tool, local }).image).toMatch(
    /^kindest\/node:v1\.36\.4@sha256:[0-9a-f]{64}$/,
  );
});

it('never puts another patch in the place of an exact one', () => {
  const local = [tag('v1.35.2')];
  expect(chooseImage('kind', { wanted: '1.35.8', tool, local })).toMatchObject({
    version: 'v1.35.8',
    isPresent: false,
  });
  expect(() => chooseImage('kind', { wanted: '1.35.7', tool, local })).toThrow('Kubernetes 1.35.7 cannot be had');
  expect(() => chooseImage('kind', { wanted: 'v1.35.8', tool, local, offline: true })).toThrow(
    'nothing may be fetched',
  );
});

it('knows an image that was fetched by its digest', () => {
  const digest = catalog().provisioners.kind?.images[0]?.digests?.['v1.34.11'];
  expect(chooseImage('kind', { wanted: '1.34', tool, local: [{ digest }] })).toMatchObject({ isPresent: true });
});

it('has a default, and offline takes what there is', () => {
  expect(chooseImage('kind', { tool, local: [] }).version).toMatch(/^v1\.35\./);
  expect(chooseImage('kind', { tool, local: [tag('v1.33.1')], offline: true }).version).toBe('v1.33.1');
  expect(() => chooseImage('kind', { tool, local: [], offline: true })).toThrow('cannot be had');
});

it('offers what the version of the tool can make, and no more', () => {
  expect(() => chooseImage('kind', { wanted: '1.37', tool: [0, 30, 0], local: [] })).toThrow('for kind v0.30.0');
});

it('is whole: digests have their form, every tool range has images', () => {
  const kind = catalog().provisioners.kind;
  for (const minor of [29, 30, 31, 32, 33]) {
    expect(kind?.images.filter((set) => inRange([0, minor, 0], set.tool))).toHaveLength(1);
  }
  for (const [version, digest] of kind?.images.flatMap((set) => Object.entries(set.digests ?? {})) ?? []) {
    expect(findVersion(version)).toBeDefined();
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  }
});

it('knows releases of k3s by their tags, and takes one that is here before a newer one', () => {
  const k3d = (wanted: string | undefined, ...tags: string[]) =>
    chooseImage('k3d', { wanted, tool: [5, 9, 0], local: tags.map((tag) => ({ tag: `rancher/k3s:${tag}` })) });
  expect(k3d('1.35', 'v1.35.0-k3s1', 'v1.35.0-rc1-k3s1')).toEqual({
    version: 'v1.35.0+k3s1',
    image: 'rancher/k3s:v1.35.0-k3s1',
    isPresent: true,
  });
  expect(k3d('1.35.0')).toMatchObject({ version: 'v1.35.0+k3s3', isPresent: false });
  expect(k3d('v1.35.0+k3s1')).toMatchObject({ image: 'rancher/k3s:v1.35.0-k3s1' });
  expect(k3d(undefined).version).toMatch(/^v1\.35\./);
  const [released] = catalog().provisioners.k3d?.images ?? [];
  expect(releasedVersions(released ?? { tool: '' }).slice(0, 2)).toEqual(['v1.36.3+k3s1', 'v1.35.7+k3s1']);
  // Upstream never released it.
  expect(() => k3d('1.34.0')).toThrow('Kubernetes 1.34.0 cannot be had for k3d v5.9.0');
  for (const version of catalog().provisioners.k3d?.images[0]?.versions ?? [])
    expect(exactVersion(version)).toHaveLength(4);
});
