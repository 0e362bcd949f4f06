// Which release of what the bed is built from. Tests compare with these; a new version is a new build.
export const kubernetesVersion = 'v1.35.8';
export const previousKubernetesVersion = 'v1.34.10';
export const k3sVersion = 'v1.35.0+k3s1';
export const k3dVersion = 'v5.9.0';
export const vclusterVersion = '0.34.0';
export const clusterApiVersion = 'v1.14.2';
