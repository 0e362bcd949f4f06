/** Which images of the Docker engine are in which nodes: what is still to be put there, and what was. */
import type { Container, Docker } from '../../tools/docker.ts';
import type { ClusterFiles } from '../docker-cluster/cluster-files.ts';

const FILE = 'images.json';

/** By name of the image: its id when it was imported, and the ids of the nodes that got it. */
export type Imported = Record<string, { id: string; nodes: string[] }>;

export interface ImportsToDo {
  /** To be imported into all nodes: into new ones, or again because the image has changed. */
  due: Imported;
  /** Neither in the nodes nor on this machine. */
  missing: string[];
}

export class ImageImports {
  readonly #docker: Docker;
  readonly #files: ClusterFiles;

  constructor(docker: Docker, files: ClusterFiles) {
    this.#docker = docker;
    this.#files = files;
  }

  async toDo(id: string, images: readonly string[], nodes: readonly Container[], signal?: AbortSignal) {
    const todo: ImportsToDo = { due: {}, missing: [] };
    if (images.length === 0) return todo;
    const done = await this.#read(id);
    const names = nodes.map((node) => node.id);
    for (const image of images) {
      const known = done[image];
      const isEverywhere = names.every((node) => known?.nodes.includes(node));
      const current = await this.#docker.imageId(image, signal);
      if (current === undefined && !isEverywhere) todo.missing.push(image);
      else if (current !== undefined && (!isEverywhere || known?.id !== current)) {
        todo.due[image] = { id: current, nodes: names };
      }
    }
    return todo;
  }

  async done(id: string, imported: Imported): Promise<void> {
    await this.#files.write(id, FILE, JSON.stringify({ ...(await this.#read(id)), ...imported }));
  }

  async #read(id: string): Promise<Imported> {
    return JSON.parse((await this.#files.read(id, FILE)) ?? '{}') as Imported;
  }
}
