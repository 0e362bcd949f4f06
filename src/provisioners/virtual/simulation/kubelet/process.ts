/**
 * What a container's command would do, as far as its words tell: `sleep 5` ends after five seconds, `exit 3` and
 * `false` fail. Everything else runs until it is stopped, except in pods of Jobs, which finish their work, unless that is to
 * wait (`pause`).
 */
import type { KubeObject } from '../../../../api/object.ts';
import { delayOf } from './stage.ts';

export interface Outcome {
  afterMs: number;
  exitCode: number;
}

interface Container {
  image?: string;
  command?: string[];
  args?: string[];
}

const QUICK = new Set(['true', 'echo', 'date', 'ls', 'env', 'printenv', 'hostname', 'id', 'whoami', 'uname', 'pwd']);

export function outcomeOf(pod: KubeObject, container: Container): Outcome | undefined {
  const spoken = script([...(container.command ?? []), ...(container.args ?? [])]);
  if (spoken || isPause(container)) return spoken;
  const job = pod.metadata.ownerReferences?.some(({ controller, kind }) => controller && kind === 'Job');
  const asked = pod.metadata.annotations?.['pod-complete.stage.kwok.x-k8s.io/delay'] !== undefined;
  return job || asked ? { afterMs: delayOf(pod, 'pod-complete'), exitCode: 0 } : undefined;
}

/** The image whose whole work is to wait for its end. */
function isPause({ image = '', command, args }: Container): boolean {
  return !command?.length && !args?.length && /(^|\/)pause(-\w+)?([:@]|$)/.test(image);
}

function script(words: string[]): Outcome | undefined {
  const [program = '', ...rest] = words;
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (/^(ba|a|da|z)?sh$/.test(name) && /^-\w*c$/.test(rest[0] ?? '')) return lines(rest[1] ?? '');
  return simple(name, rest);
}

/** The statements of a shell script in a row; anything that is not understood may run for ever. */
function lines(text: string): Outcome | undefined {
  let afterMs = 0;
  let exitCode = 0;
  for (const statement of text.split(/\n|;|&&/).map((s) => s.trim())) {
    if (!statement || statement.startsWith('#') || statement === 'set -e') continue;
    const [name = '', ...rest] = statement.split(/\s+/);
    if (name === 'exit') return { afterMs, exitCode: Number(rest[0] ?? exitCode) || 0 };
    const outcome = simple(name, rest);
    if (!outcome) return undefined;
    afterMs += outcome.afterMs;
    exitCode = outcome.exitCode;
  }
  return { afterMs, exitCode };
}

function simple(name: string, rest: string[]): Outcome | undefined {
  if (name === 'false') return { afterMs: 0, exitCode: 1 };
  if (QUICK.has(name)) return { afterMs: 0, exitCode: 0 };
  if (name !== 'sleep') return undefined;
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)([smhd])?$/.exec(rest[0] ?? '') ?? [];
  if (number === undefined || rest.length > 1) return undefined;
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }[unit] ?? 1;
  return { afterMs: Number(number) * seconds * 1000, exitCode: 0 };
}
