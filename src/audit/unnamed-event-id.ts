import type { AgentEvent } from "../events/agent-event.ts";
import { hashedUuid } from "../events/hashed-uuid.ts";
import type { Instant } from "../events/instant.ts";
import { readTimestamp } from "../events/rfc3339.ts";
import { RecentMap } from "../lifecycle/recent-map.ts";
import { canonicalRunId } from "../lifecycle/run-ids.ts";

/** IDs that are remembered, at least, to tell equal events apart. Such events come close together. */
const REMEMBERED = 10_000;

/**
 * Makes IDs for events that were sent without one, so that their rows have the same IDs live, in a replay of
 * their recording, and when they are sent again to another process.
 *
 * An ID is made of tenant, run, type, tool call and time, and of how many such events came before. No clock of
 * this process and no random value is in it.
 */
export class UnnamedEvents {
  readonly #counts = new RecentMap<number>(REMEMBERED);

  /**
   * @param at when it happened.
   * @param again the event is one that came before. Then it counts as the first of its kind.
   * @returns `undefined` if `at` is no time: such an event leaves no row.
   */
  idOf(event: AgentEvent, at: string | Readonly<Instant>, again: boolean): string | undefined {
    const time = typeof at === "string" ? readTimestamp(at) : at;
    if (time === undefined) return undefined;
    const { run_id, tenant_id, type } = event;
    const call = "tool_use_id" in event ? `${event.tool_use_id}\0${event.tool}` : "";
    const run = canonicalRunId(run_id);
    const text = `event\0${tenant_id}\0${run}\0${type}\0${time[0]}.${time[1]}\0${call}`;
    const first = hashedUuid(text);
    if (again) return first;
    const before = this.#counts.get(first) ?? 0;
    this.#counts.set(first, before + 1);
    return before === 0 ? first : hashedUuid(`${text}\0${before}`);
  }
}
