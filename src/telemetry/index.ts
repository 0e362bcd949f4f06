/** Logs and metrics. The only folder that names logging and metrics libraries. */
export {
  jsonLogger,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogLine,
  loggerOf,
  silentLogger,
  terminalLogger,
} from './log.ts';
export {
  type Counter,
  createMetrics,
  type Gauge,
  type Histogram,
  type Labels,
  type Metrics,
  noMetrics,
} from './metrics.ts';
export { redact, redactText } from './redact.ts';
