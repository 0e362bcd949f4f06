/** What a tool that makes clusters of containers (kind, k3d) says about itself: names, shapes, words. Pure; what it does is its provisioner's. */
import type { Container } from '../../tools/docker.ts';
import type { Meaning } from './tool-output.ts';

export interface ClusterShape {
  nodes: number;
  controlPlanes: number;
  /** Nodes, and what stands in front of them. */
  containers: number;
  /** False without a network plug-in: nodes cannot become Ready. */
  hasNetwork: boolean;
  /** False where cluster DNS is switched off. */
  hasDns?: boolean;
}

/** Containers with the name of a cluster: whose are they? */
export interface Belongings {
  ours: Container[];
  others: Container[];
}

export interface ClusterTool<Spec> {
  /** Of the program, of its entry in the catalog and of the provisioner. */
  readonly name: string;
  /** Label of its containers that holds the name of the cluster. */
  readonly clusterLabel: string;
  /** The command by which people remove a cluster of that name. */
  deleteCommand(cluster: string): string;
  /** The owner whose mark a container bears. */
  ownerOf(container: Container): string | undefined;
  /** `control-plane` or `worker`; undefined for what is no node. */
  roleOf(container: Container): string | undefined;
  /** Comes and goes while the tool works; nobody misses it. */
  isPassing?(container: Container): boolean;
  /** `createdSince`: when we began to make the cluster, if we did. */
  divide(containers: Container[], owner: string, createdSince: number | undefined): Belongings;
  shapeOf(spec: Spec): ClusterShape;
  /** Changes when something changes that only a new cluster can have. */
  fingerprint(spec: Spec): string;
  /** What it calls the containers of a cluster. */
  containerNames(cluster: string, shape: ClusterShape): string[];
  /** Where the API is for containers on the cluster's network. */
  internalServer(cluster: string, spec: Spec): string;
  /** How long it takes on a small machine. */
  usualMs(shape: ClusterShape): number;
  /** The step it is at. */
  stepOf(output: string): string | undefined;
  meaningOf(output: string): Meaning;
}

/** The shape a run has noted when it began. */
export function shapeFrom(note: Record<string, unknown>): ClusterShape {
  const { nodes = 1, controlPlanes = 1, containers = 1, hasNetwork = true, hasDns } = note as Partial<ClusterShape>;
  return { nodes, controlPlanes, containers, hasNetwork, ...(hasDns === undefined ? {} : { hasDns }) };
}
