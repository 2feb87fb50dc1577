import { v7 } from "uuid";
import { stringifyExact } from "../../../src/entries/events.ts";
import { formatRfc3339, now } from "../../../src/events/door.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { RunEvents } from "../../support/run-events.ts";

/** The events of a new run. */
export function freshRun(tenant = "acme"): RunEvents {
  return new RunEvents(v7(), tenant);
}

/** An event that happens now, as a flat envelope. */
export function happening(event: AgentEvent): string {
  return stringifyExact({ event_id: v7(), timestamp: formatRfc3339(now()), ...event });
}

/** A run that goes well, though a call in it failed: a second one did not. */
export function recovered(tenant: string, agent: string): AgentEvent[] {
  const run = freshRun(tenant);
  return [
    run.started(agent),
    run.toolStart("tu-1"),
    run.toolError("tu-1"),
    run.toolStart("tu-2"),
    run.toolComplete("tu-2"),
    run.complete(),
  ];
}
