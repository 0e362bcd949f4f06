/** The control plane as a library: `rookery/embedded`. */
export { systemClock } from '../clock.ts';
export { type Config, loadConfig } from '../config.ts';
export { jsonLogger, terminalLogger } from '../telemetry/log.ts';
export { createMetrics } from '../telemetry/metrics.ts';
export { ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
