import { v7 } from "uuid";
import { stringifyExact } from "../../../src/events/exact-json.ts";
import { formatRfc3339 } from "../../../src/events/rfc3339.ts";
import { RunEvents, second } from "../../support/run-events.ts";

/** The lines of whole runs with a tool call and a child each: four spans a run. */
export function wholeRuns(count: number, tenant: string, from = 0): string[][] {
  return Array.from({ length: count }, (_, at) => {
    const run = new RunEvents(v7(), tenant);
    const child = new RunEvents(v7(), tenant);
    const start = from + at * 0.05;
    const events = [
      run.started("planner"),
      run.toolStart("call_1", "search"),
      child.started("reader", run.run_id),
      child.toolStart("call_1", "fetch"),
      child.toolComplete("call_1", "fetch", 20),
      child.complete(),
      run.toolComplete("call_1", "search", 60),
      run.complete(),
    ];
    return events.map((event, place) =>
      stringifyExact({
        event_id: v7(),
        timestamp: formatRfc3339(second(start + place * 0.01)),
        ...event,
      }),
    );
  });
}

/** Spans of each of {@link wholeRuns}. */
export const SPANS_A_RUN = 4;
