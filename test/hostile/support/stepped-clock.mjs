// Loaded into a service before its own code: a clock of the system that is years off, and steps while the process
// runs. HOSTILE_CLOCK has the steps as JSON: [[ms after the start, ms that are added from then on], …].
import { performance } from "node:perf_hooks";

const RealDate = globalThis.Date;
const steps = JSON.parse(process.env.HOSTILE_CLOCK ?? "[]");

function offset() {
  let added = 0;
  for (const [from, ms] of steps) if (performance.now() >= from) added = ms;
  return added;
}

class SteppedDate extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(SteppedDate.now());
    else super(...parts);
  }

  static now() {
    return RealDate.now() + offset();
  }
}

globalThis.Date = SteppedDate;
