export type { Arrangement, Bench } from './bench/bench.ts';
export { capabilitiesOf, skipReason } from './capabilities.ts';
export { checks } from './checks/index.ts';
export { conformance } from './conformance.ts';
export { ConformanceError, NotApplicable } from './expect.ts';
export { type ConformanceEvent, type Outcome, type RunSettings, runCheck, runChecks } from './run.ts';
export type {
  Capabilities,
  Check,
  ConformanceOptions,
  Fixture,
  Requirement,
  Runner,
  RunnerTest,
} from './types.ts';
