/**
 * Logging as the rest of the code sees it: a message, fields, and children that carry fields along. Every field is
 * redacted before a sink sees it.
 */
import { writeSync } from 'node:fs';
import { redact } from './redact.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
export type LogFields = Record<string, unknown>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** One line of log, as a sink gets it. */
export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  fields: LogFields;
}

/** A logger over any sink; `enabled` spares the work of lines nobody reads. */
export function loggerOf(
  sink: (line: LogLine) => void,
  enabled: (level: LogLine['level']) => boolean = () => true,
  bound: LogFields = {},
): Logger {
  const at = (level: LogLine['level']) => (message: string, fields?: LogFields) => {
    if (!enabled(level)) return;
    sink({ level, message: redact(message) as string, fields: redact({ ...bound, ...fields }) as LogFields });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => loggerOf(sink, enabled, { ...bound, ...fields }),
  };
}

export const silentLogger: Logger = loggerOf(
  () => {},
  () => false,
);

const LEVELS: LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/**
 * Never throws: a line that cannot be written (the disk of the log is full) is lost, and counted. The number is said as
 * soon as lines can be written again, at the start of a line: the last one may be there in part.
 */
function unfailing(write: (line: string) => void, toldAs: (message: string) => string): (line: string) => void {
  let lost = 0;
  return (line) => {
    try {
      if (lost > 0)
        write(`\n${toldAs(`${lost} ${lost === 1 ? 'line of the log was' : 'lines of the log were'} lost`)}\n`);
      lost = 0;
      write(line);
    } catch {
      lost++;
    }
  };
}

/** One readable line each, for a person at a terminal. */
export function terminalLogger(level: LogLevel, destination: (line: string) => void): Logger {
  const write = unfailing(destination, (message) => message);
  return loggerOf(
    ({ level: at, message, fields }) => {
      const { error, ...rest } = fields as { error?: { message?: string } | string };
      const details = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
      const reason = error ? `: ${typeof error === 'string' ? error : (error.message ?? '')}` : '';
      write(`${new Date().toTimeString().slice(0, 8)} ${at.padEnd(5)} ${message}${reason}${details.join('')}\n`);
    },
    (wanted) => LEVELS.indexOf(wanted) >= LEVELS.indexOf(level),
  );
}

/** JSON lines on `destination` (a file descriptor or a stream; default stderr), written before the call returns. */
export function jsonLogger(
  options: { level?: LogLevel; destination?: number | { write(line: string): void }; fields?: LogFields } = {},
): Logger {
  const { destination = 2, level = 'info' } = options;
  const to = typeof destination === 'number' ? (line: string) => writeWhole(destination, line) : destination.write;
  const write = unfailing(to, (msg) => JSON.stringify({ level: 'warn', time: new Date().toISOString(), msg }));
  return loggerOf(
    ({ level: at, message, fields }) =>
      write(`${JSON.stringify({ level: at, time: new Date().toISOString(), ...fields, msg: message })}\n`),
    (wanted) => LEVELS.indexOf(wanted) >= LEVELS.indexOf(level),
    options.fields,
  );
}

/** The last room on a disk may be enough for a part of a line. */
function writeWhole(file: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
