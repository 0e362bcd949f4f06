/** Cron schedules as CronJobs take them: five fields or a descriptor; errors worded as robfig/cron words them. */

interface Bounds {
  min: number;
  max: number;
  names?: string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const FIELDS: Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];
const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

class CronError extends Error {}

function number(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) {
    throw new CronError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  const value = Number(text);
  if (value < 0) throw new CronError(`negative number (${value}) not allowed: ${text}`);
  return value;
}

function numberOrName(text: string, bounds: Bounds): number {
  const named = bounds.names?.indexOf(text.toLowerCase()) ?? -1;
  return named >= 0 ? named + bounds.min : number(text);
}

function checkRange(text: string, bounds: Bounds): void {
  const [range = '', step, ...extraSteps] = text.split('/');
  const [low = '', high, ...extra] = range.split('-');
  let from: number;
  let to: number;
  if (low === '*' || low === '?') {
    from = bounds.min;
    to = bounds.max;
  } else {
    from = numberOrName(low, bounds);
    if (extra.length) throw new CronError(`too many hyphens: ${text}`);
    to = high === undefined ? from : numberOrName(high, bounds);
  }
  let every = 1;
  if (step !== undefined) {
    if (extraSteps.length) throw new CronError(`too many slashes: ${text}`);
    every = number(step);
    if (high === undefined && low !== '*' && low !== '?') to = bounds.max;
  }
  if (from < bounds.min) throw new CronError(`beginning of range (${from}) below minimum (${bounds.min}): ${text}`);
  if (to > bounds.max) throw new CronError(`end of range (${to}) above maximum (${bounds.max}): ${text}`);
  if (from > to) throw new CronError(`beginning of range (${from}) beyond end of range (${to}): ${text}`);
  if (every === 0) throw new CronError(`step of range should be a positive number: ${text}`);
}

function check(schedule: string): void {
  if (schedule === '') throw new CronError('empty spec string');
  let spec = schedule;
  const zone = /^(?:TZ|CRON_TZ)=(\S*)\s+(.*)$/.exec(schedule);
  if (zone) spec = zone[2] as string;
  if (spec.startsWith('@')) {
    if (DESCRIPTORS.has(spec)) return;
    const every = /^@every (.*)$/.exec(spec);
    if (!every) throw new CronError(`unrecognized descriptor: ${spec}`);
    if (!/^[-+]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(every[1] as string)) {
      const value = JSON.stringify(every[1]);
      throw new CronError(`failed to parse duration ${spec}: time: invalid duration ${value}`);
    }
    return;
  }
  const fields = spec.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    throw new CronError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
  }
  for (const [index, bounds] of FIELDS.entries()) {
    for (const part of (fields[index] as string).split(',').filter(Boolean)) checkRange(part, bounds);
  }
}

/** What is wrong with a schedule, or nothing. */
export function scheduleProblem(schedule: string): string | undefined {
  try {
    check(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}
