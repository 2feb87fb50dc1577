import { v7 } from "uuid";
import { stringifyExact } from "../../../src/entries/events.ts";
import { formatRfc3339 } from "../../../src/events/door.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { RunEvents, second } from "../../support/run-events.ts";

/**
 * The lines of whole runs with a tool call and a child each: four spans and four rows a run.
 *
 * @param newId gives each run and event its id. Default: random ones.
 */
export function wholeRuns(
  count: number,
  tenant: string,
  from = 0,
  newId: () => string = v7,
): string[][] {
  return Array.from({ length: count }, (_, at) => {
    const run = new RunEvents(newId(), tenant);
    const child = new RunEvents(newId(), tenant);
    const start = from + at * 0.05;
    return runWithChild(run, child).map((event, place) =>
      stringifyExact({
        event_id: newId(),
        timestamp: formatRfc3339(second(start + place * 0.01)),
        ...event,
      }),
    );
  });
}

/** A run with a tool call and a child that has one too. */
export function runWithChild(run: RunEvents, child: RunEvents): AgentEvent[] {
  return [
    run.started("planner"),
    run.toolStart("call_1", "search"),
    child.started("reader", run.run_id),
    child.toolStart("call_1", "fetch"),
    child.toolComplete("call_1", "fetch", 20),
    child.complete(),
    run.toolComplete("call_1", "search", 60),
    run.complete(),
  ];
}

/** Spans of each of {@link wholeRuns}. */
export const SPANS_A_RUN = 4;
