// Builds what is missing, in catalog order, in two lanes: Go's compiler keeps both cores busy by itself, while packages
// and root file systems mostly wait for the network and the disk, so one of each runs at a time. Beside them the modules of
// later parts are downloaded, so that the compiler never waits for the network.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPresent, manifestOf, publish, scratch, sweepScratch } from './cache.ts';
import { withLock } from './lock.ts';
import { closure } from './lookup.ts';
import type { Part } from './part.ts';
import { logsFolder } from './paths.ts';
import { impossible } from './possibility.ts';
import { installPackages, unpackDebian } from './sources/apt.ts';
import type { Builder } from './sources/context.ts';
import { buildGo, fetchGo } from './sources/go-module.ts';
import { buildImage } from './sources/image.ts';
import { buildRootfs } from './sources/rootfs.ts';

const builders: Record<Part['source']['from'], Builder> = {
  apt: installPackages,
  debian: unpackDebian,
  go: buildGo,
  rootfs: buildRootfs,
  image: buildImage,
};

export type Outcome =
  | { readonly part: Part; readonly state: 'present' | 'built' }
  | { readonly part: Part; readonly state: 'failed' | 'no time' | 'impossible'; readonly why: string };

export interface BuildOptions {
  /** Milliseconds since the epoch after which nothing new is begun and what is running is stopped. */
  readonly deadline?: number;
  readonly say?: (line: string) => void;
}

export const logOf = (part: Part): string => join(logsFolder, `${part.name}.log`);

async function buildOne(part: Part, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  await withLock(
    `part-${part.name}`,
    async () => {
      if (isPresent(part)) return; // somebody else built it while we waited
      const log = logOf(part);
      mkdirSync(logsFolder, { recursive: true });
      writeFileSync(log, `${new Date().toISOString()} building ${part.name} ${part.version}\n`);
      const output = scratch(part.name);
      const resolved: Record<string, string> = {};
      const started = Date.now();
      say(`building ${part.name} ${part.version}`);
      try {
        await builders[part.source.from]({ part, output, log, signal, resolved });
        const seconds = Math.round((Date.now() - started) / 1000);
        if (part.source.from !== 'apt') publish(part, output, seconds, resolved);
        else if (!isPresent(part)) throw new Error(`installed, but one of ${part.check.join(', ')} is not there`);
        say(`built ${part.name} in ${seconds} s`);
      } finally {
        rmSync(output, { recursive: true, force: true });
      }
    },
    { signal, onWait: () => say(`waiting for ${part.name}: another run is building it`) },
  );
}

/** Everything named and all it needs; never throws for one part, so that the others still get built. */
export async function build(names: readonly string[], options: BuildOptions = {}): Promise<Outcome[]> {
  const say = options.say ?? (() => {});
  const parts = closure(names);
  const outcomes = new Map<string, Outcome>();
  const stop = new AbortController();
  const timer = options.deadline
    ? setTimeout(() => stop.abort(), Math.max(0, options.deadline - Date.now()))
    : undefined;
  sweepScratch();

  for (const part of parts) {
    const why = impossible(part);
    if (isPresent(part)) outcomes.set(part.name, { part, state: 'present' });
    else if (why) outcomes.set(part.name, { part, state: 'impossible', why });
  }

  const laneOf = (part: Part): string => (part.source.from === 'go' ? 'go' : 'rest');
  const begun = new Set<string>();
  const settled = (name: string): Outcome | undefined => outcomes.get(name);
  const ready = (part: Part): boolean => (part.needs ?? []).every((need) => settled(need) !== undefined);

  const work = async (part: Part): Promise<void> => {
    const broken = (part.needs ?? []).map(settled).find((need) => need && 'why' in need);
    if (broken && 'why' in broken) {
      outcomes.set(part.name, {
        part,
        state: broken.state,
        why: `needs ${broken.part.name}: ${broken.why.split('\n')[0]}`,
      });
      return;
    }
    const late = { part, state: 'no time', why: 'the clock ran out before it was built' } as const;
    if (stop.signal.aborted) {
      outcomes.set(part.name, late);
      return;
    }
    try {
      await buildOne(part, say, stop.signal);
      outcomes.set(part.name, { part, state: 'built' });
    } catch (error) {
      if (stop.signal.aborted) outcomes.set(part.name, late);
      else {
        const why = (error as Error).message;
        say(`FAILED ${part.name}: ${why}\n  log: ${logOf(part)}`);
        outcomes.set(part.name, { part, state: 'failed', why });
      }
    }
  };

  const lane = async (name: string): Promise<void> => {
    for (;;) {
      const waiting = parts.filter(
        (part) => laneOf(part) === name && !begun.has(part.name) && !outcomes.has(part.name),
      );
      if (waiting.length === 0) return;
      const next = waiting.find(ready);
      if (!next) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        continue;
      }
      begun.add(next.name);
      await work(next);
    }
  };
  const prefetch = async (): Promise<void> => {
    for (const part of parts.filter((candidate) => candidate.source.from === 'go')) {
      if (begun.has(part.name) || outcomes.has(part.name) || stop.signal.aborted) continue;
      await fetchGo(part, stop.signal).catch(() => {}); // the build of the part will say what is wrong
    }
  };
  await Promise.all([lane('go'), lane('rest'), prefetch()]);
  clearTimeout(timer);
  return parts.map((part) => outcomes.get(part.name) as Outcome);
}

export const secondsOf = (part: Part): number | undefined => manifestOf(part)?.seconds;
