/**
 * Rookery's own cluster roles, in the form of bootstrap-cluster-roles.ts. They are meant to be bound per namespace:
 * a student's RoleBinding to `rookery-student` reaches that student's instances and nobody else's.
 */
const CLUSTER_GROUPS =
  'cluster.x-k8s.io,infrastructure.cluster.x-k8s.io,bootstrap.cluster.x-k8s.io,controlplane.cluster.x-k8s.io';

export const ROOKERY_ROLES: Record<string, string[]> = {
  /** Runs the whole installation. */
  'rookery-admin': [
    `* workshop.platform,rookery.dev,${CLUSTER_GROUPS} *`,
    'all core namespaces,secrets,configmaps,serviceaccounts',
    'read,patch core events,nodes,pods,pods/log',
    'read apiextensions.k8s.io customresourcedefinitions',
    'all rbac.authorization.k8s.io roles,rolebindings',
    'bind rbac.authorization.k8s.io clusterroles rookery-host-user,rookery-instructor,rookery-student,rookery-tenant',
  ],
  /** Writes workshops and looks after every student's instance. */
  'rookery-instructor': [
    // Templates may give each workspace a cluster of containers.
    'use rookery.dev hosts containers',
    'all workshop.platform workspacetemplates,workspaceinstances',
    'update,patch workshop.platform workspaceinstances/status',
    // Revoked links.
    'update workshop.platform workspaceinstances/links',
    'all rookery.dev clusterclaims',
    'read rookery.dev clusterjobs,clusterpools',
    `read ${CLUSTER_GROUPS} *`,
    'read core events,namespaces',
    'bind rbac.authorization.k8s.io clusterroles rookery-student',
    'create,delete,get,list rbac.authorization.k8s.io rolebindings',
  ],
  /** Works through an instance that somebody else made for them. */
  'rookery-student': [
    'read,patch,update workshop.platform workspaceinstances',
    'read workshop.platform workspacetemplates',
    'read cluster.x-k8s.io clusters',
    'read core events',
  ],
  /** Added to another role: clusters that use the machine Rookery runs on, and machines it can log in to. As good as root there. */
  'rookery-host-user': [
    'use rookery.dev hosts',
    'all infrastructure.cluster.x-k8s.io kindclusters,k3dclusters,k3sclusters',
  ],
  /** Orders clusters of their own inside a namespace and takes their kubeconfigs. Nothing that reaches the machine Rookery runs on. */
  'rookery-tenant': [
    'all cluster.x-k8s.io *',
    'all infrastructure.cluster.x-k8s.io virtualclusters,vclusters',
    `read ${CLUSTER_GROUPS} *`,
    'all workshop.platform workspaceinstances',
    'update workshop.platform workspaceinstances/links',
    'all rookery.dev clusterclaims',
    'create,delete,get,list,watch rookery.dev clusterjobs',
    'read workshop.platform workspacetemplates',
    'read core events,secrets',
  ],
};
