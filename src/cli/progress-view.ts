/** What people see while they wait: a live tree on a terminal, lines in a pipe or a log, nothing where a program reads along. */
import type { KubeObject } from '../api/object.ts';
import { LiveLines, type Terminal } from './live-lines.ts';
import type { OutputFormat } from './output.ts';
import { lineOf, stepsOf, treeOf } from './steps.ts';

export interface ProgressView {
  see(object: KubeObject): void;
  /** The last state stays on the screen; `isOver`: all of it was done. */
  end(isOver: boolean): void;
}

interface ViewOptions {
  title: string;
  output: OutputFormat;
  terminal?: Terminal;
  env?: NodeJS.ProcessEnv;
  now?: () => number;
}

const FRAME_MS = 120;
/** What is done sooner needs no tree. */
const FIRST_FRAME_MS = 400;

export function progressView({ title, output, ...rest }: ViewOptions): ProgressView {
  const { terminal = process.stderr, env = process.env, now = Date.now } = rest;
  if (output !== 'table') return { see() {}, end() {} };
  const isLive = terminal.isTTY && !env.CI && env.TERM !== 'dumb';
  return isLive ? liveView(title, terminal, now) : plainView(terminal, now);
}

function liveView(title: string, terminal: Terminal, now: () => number): ProgressView {
  const from = now();
  const live = new LiveLines(terminal);
  let last: KubeObject | undefined;
  let frame = 0;
  const draw = (isOver = false) => {
    const steps = last ? stepsOf(last, from, now(), isOver) : [];
    if (steps.length > 0) live.draw(treeOf(title, steps, frame++));
  };
  const timer = setInterval(() => {
    if (now() - from >= FIRST_FRAME_MS) draw();
  }, FRAME_MS);
  timer.unref();
  return {
    see(object) {
      last = object;
    },
    end(isOver) {
      clearInterval(timer);
      if (frame > 0) draw(isOver);
    },
  };
}

function plainView(terminal: Terminal, now: () => number): ProgressView {
  const from = now();
  const told = new Set<string>();
  let last: KubeObject | undefined;
  const tell = () => {
    for (const step of last ? stepsOf(last, from, now()) : []) {
      const id = `${step.at} ${step.text}`;
      if (!told.has(id)) terminal.write(`  ${lineOf(step)}\n`);
      told.add(id);
    }
  };
  // What stands still from the start is not seen again.
  const first = setTimeout(tell, FIRST_FRAME_MS);
  first.unref();
  return {
    see(object) {
      last = object;
      if (now() - from >= FIRST_FRAME_MS) tell();
    },
    end: () => clearTimeout(first),
  };
}
