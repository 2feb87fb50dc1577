import { type RunScope, runStorage } from "../../../src/events/context/current-run.ts";

/** Calls `work` as code of that run, as the runtime does. */
export function withCurrentRun<T>(run: RunScope, work: () => T): T {
  return runStorage().run(run, work);
}
