/** The name under which the SSH key of a machine is handed over in `ClusterRef.access`. */
export const SSH_KEY = 'sshKey';
