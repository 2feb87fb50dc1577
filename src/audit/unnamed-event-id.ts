import type { AgentEvent } from "../events/agent-event.ts";
import { hashedUuid } from "../events/hashed-uuid.ts";
import type { Instant } from "../events/instant.ts";
import { readTimestamp } from "../events/rfc3339.ts";
import { canonicalRunId } from "../lifecycle/run-ids.ts";
import type { RunThreads } from "./run-threads.ts";

/**
 * An ID for an event that was sent without one, so that its rows have the same IDs live, in a replay of its
 * recording, and when it is sent again to another process.
 *
 * It is made of tenant, run, type, tool call and time, and of how many equal events came before. No clock of this
 * process and no random value is in it.
 *
 * @param at when it happened.
 * @param runs counts equal events.
 * @param again the event is one that came before. Then it counts as the first of its kind.
 * @returns `undefined` if `at` is no time: such an event leaves no row.
 */
export function unnamedEventId(
  event: AgentEvent,
  at: string | Readonly<Instant>,
  runs: RunThreads,
  again: boolean,
): string | undefined {
  const time = typeof at === "string" ? readTimestamp(at) : at;
  if (time === undefined) return undefined;
  const { run_id, tenant_id, type } = event;
  const what = "tool_use_id" in event ? `${type}\0${event.tool_use_id}\0${event.tool}` : type;
  const before = again ? 0 : runs.countUnnamed(tenant_id, run_id, time, what);
  const run = canonicalRunId(run_id);
  return hashedUuid(`event\0${tenant_id}\0${run}\0${time[0]}.${time[1]}\0${before}\0${what}`);
}
