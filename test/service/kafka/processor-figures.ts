import { Bridge } from "../../../src/index.ts";
import type { ProcessorFigures } from "../../../src/service/processor/log-processor-options.ts";

/** Of a log processor that has done nothing yet. */
export const NO_FIGURES: ProcessorFigures = {
  lines: 0,
  alreadyExported: 0,
  events: 0,
  rejected: 0,
  unknown: 0,
  duplicates: 0,
  ignored: new Bridge().diagnostics().ignored,
  tenantConflicts: {},
  late: 0,
  spansStored: 0,
  spansRefused: 0,
  rowsStored: 0,
  rowsRefused: 0,
  openRuns: 0,
  waiting: 0,
  inFlight: 0,
  stalled: false,
  lagMs: 0,
};
