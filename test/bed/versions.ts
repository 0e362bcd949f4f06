// Which release of what the bed is built from. Tests compare with these; a new version is a new build.
export const kubernetesVersion = 'v1.35.8';
export const previousKubernetesVersion = 'v1.34.10';
export const k3sVersion = 'v1.35.0+k3s1';
/** A release candidate and its release, both with a published module: k3s is upgraded from one to the other. */
export const k3sUpgradeVersions = { from: 'v1.32.0-rc1+k3s1', to: 'v1.32.0+k3s1' } as const;
export const k3dVersion = 'v5.9.0';
export const vclusterVersion = '0.34.0';
export const clusterApiVersion = 'v1.14.2';
