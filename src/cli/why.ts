/** `rookery why`: the chain from what was asked about to the root cause. Ends with 1 when something is not well. */
import pc from 'picocolors';
import * as known from '../api/resources.ts';
import { type Link, type LinkState, rootCause, walk } from '../diagnosis/chain.ts';
import { lookAt, type World } from '../diagnosis/objects.ts';
import { diskReport } from '../embedded/disk-report.ts';
import { RookeryError } from '../errors.ts';
import type { ResourceRef } from '../kube/index.ts';
import { missing } from './cluster-lookup.ts';
import { connect, type GlobalOptions } from './connect.ts';
import { age, print } from './output.ts';
import { availability } from './ways.ts';
import { findWorkspace } from './workspace-lookup.ts';

export async function why(options: GlobalOptions & { namespace?: string }, what: string): Promise<void> {
  const { resource, name } = parse(what);
  const { home, store, isHosted, close } = await connect(options);
  try {
    const world: World = { store, probe: (way) => availability(way, home), resource: kindNamed };
    const isWorkspace = resource === known.workspaceInstances;
    const namespace = isWorkspace
      ? (await findWorkspace(store, name, options.namespace)).metadata.namespace
      : (options.namespace ?? 'default');
    const key = resource.namespaced ? { namespace, name } : { name };
    const chain = await walk(lookAt(world, resource, key));
    if (chain[0]?.state === 'missing') throw notThere(resource, namespace as string, name);
    const cause = rootCause(chain);
    const disk = await diskReport(home);
    const isFull = disk.state === 'full';
    const isWell = cause === undefined && !isFull;
    const facts = { subject: chain[0]?.subject, isWell, rootCause: cause, chain, ...(isFull ? { disk } : {}) };
    await print(
      options.output,
      facts,
      () => `${told(chain, cause, isHosted)}${isFull ? `\nThe disk is ${disk.message}.\n` : ''}`,
    );
    if (!isWell) process.exitCode = 1;
  } finally {
    await close();
  }
}

const MARKS: Record<LinkState, (text: string) => string> = {
  ok: pc.green,
  working: pc.cyan,
  blocked: pc.red,
  missing: pc.red,
  unknown: pc.yellow,
};

function told(chain: readonly Link[], cause: Link | undefined, isHosted: boolean): string {
  const parts = chain.map((link, depth) => block(link, depth, link === cause));
  const note =
    cause && isHosted
      ? [
          '',
          'No control plane runs but the one this command hosts: things go on while one does (`rookery up --detach`).',
        ]
      : [];
  return `${[...parts, ...note].join('\n')}\n`;
}

/** Only the root cause is told in full: the links above it say the same in other words. */
function block(link: Link, depth: number, isCause: boolean): string {
  const indent = '  '.repeat(depth);
  const mark = MARKS[link.state];
  const head = `${indent}${depth > 0 ? '└ ' : ''}${pc.bold(link.subject)}: ${mark(link.state)}${link.reason ? ` (${link.reason})` : ''}`;
  if (!isCause && link.state !== 'ok') return head;
  const below = (text: string) => text.split('\n').map((line) => `${indent}    ${line}`);
  const lines = [head, ...below(link.what)];
  if (link.state !== 'ok' && link.since) lines.push(...below(sinceText(link)));
  if (link.output.length > 0) lines.push(...below('last output:'), ...link.output.flatMap((l) => below(`  ${l}`)));
  if (link.recent.length > 0) lines.push(...below('lately:'), ...link.recent.flatMap((l) => below(`  ${l}`)));
  if (link.next) lines.push(...below(`${pc.bold('next:')} ${link.next}`));
  return lines.join('\n');
}

function sinceText({ since = '', usualSeconds }: Link): string {
  const usual = usualSeconds === undefined ? '' : `; usually done in about ${usualSeconds} s`;
  return `since ${since} (${age(since, Date.now())})${usual}`;
}

/** `demo` is a cluster; `kindcluster/demo` is what it says. */
function parse(what: string): { resource: ResourceRef; name: string } {
  const slash = what.indexOf('/');
  if (slash < 0) return { resource: known.clusters, name: what };
  const resource = kindNamed(what.slice(0, slash));
  if (resource) return { resource, name: what.slice(slash + 1) };
  const names = Object.values(known).map(({ kind }) => kind.toLowerCase());
  throw new RookeryError('why.kind', `there is no kind ${JSON.stringify(what.slice(0, slash))}`, {
    class: 'user',
    hint: `use one of ${names.join(', ')}`,
  });
}

/** Short forms that people say. */
const ALIASES: Record<string, string> = { workspace: 'workspaceinstance' };

function kindNamed(text: string): ResourceRef | undefined {
  const name = ALIASES[text.toLowerCase()] ?? text.toLowerCase();
  return Object.values(known).find(({ kind, plural }) => kind.toLowerCase() === name || plural === name);
}

function notThere(resource: ResourceRef, namespace: string, name: string): RookeryError {
  if (resource === known.clusters) return missing(namespace, name);
  const where = resource.namespaced ? ` in namespace ${namespace}` : '';
  return new RookeryError('why.missing', `there is no ${resource.kind} ${JSON.stringify(name)}${where}`, {
    class: 'user',
  });
}
