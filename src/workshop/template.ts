/** The `WorkspaceTemplate` of a compiled workshop. */
import type { KubeObject } from '../api/object.ts';
import { workspaceTemplates } from '../api/resources.ts';
import type { Artifact, ArtifactStep } from './artifact.ts';

/** Inline text has to be text: what is not goes with the image only. */
const decoder = new TextDecoder('utf-8', { fatal: true });

export function templateSteps({ steps }: Artifact): Record<string, unknown>[] {
  return steps.map((step) => {
    const { id, title, imageTag, group, requires, cluster, content, hints, solution, env, manifests, checks } = step;
    const files = inlineFiles(step);
    return defined({
      id,
      title,
      imageTag,
      cluster,
      group,
      requires,
      content,
      hints,
      solution,
      env,
      manifests,
      files: files.length > 0 ? files : undefined,
      checks: checks.length > 0 ? checks : undefined,
    });
  });
}

/** For authors and local use; an operator's own template keeps its defaults and takes over the steps only. */
export function templateOf(artifact: Artifact, name = artifact.name): KubeObject {
  const { lifecycle, resources, cluster } = artifact;
  const nested = cluster?.enabled
    ? defined({ mode: cluster.mode, version: cluster.version, provisioner: cluster.provider })
    : { mode: 'none' };
  return {
    apiVersion: `${workspaceTemplates.group}/${workspaceTemplates.version}`,
    kind: workspaceTemplates.kind,
    metadata: { name },
    spec: {
      defaults: defined({ lifecycle, resources, cluster: nested, access: { webTerminal: true } }),
      navigation: artifact.navigation,
      steps: templateSteps(artifact),
    },
  };
}

function inlineFiles({ files }: ArtifactStep): { path: string; content: string; mode: string }[] {
  return files.flatMap(({ path, content, mode }) => {
    try {
      return [{ path, content: decoder.decode(content), mode }];
    } catch {
      return [];
    }
  });
}

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
