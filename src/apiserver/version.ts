/** What `/version` says: the Kubernetes API we serve, under our own build metadata. */
export const VERSION = {
  major: '1',
  minor: '35',
  gitVersion: 'v1.35.8+rookery',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-11-15T00:00:00Z',
  goVersion: `node${process.versions.node}`,
  compiler: 'v8',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};
