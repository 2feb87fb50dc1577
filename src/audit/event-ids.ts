import {
  type AgentEvent,
  canonicalRunId,
  hashedUuid,
  type Instant,
  isText,
  MOST_NAME,
  RecentMap,
  readTimestamp,
} from "../events/door.ts";
import type { RecordRefs } from "./record-refs.ts";

/** Longest ID of an event. Rows append a word to it. */
const MOST_ID = MOST_NAME - 16;

/** IDs remembered, at least, to distinguish equal events. Equal events come close together. */
const REMEMBERED = 10_000;

/** The ID of an event, and its properties. */
export interface EventId {
  readonly event_id: string | undefined;
  /** The event was sent without an ID. This one was derived for its rows. */
  readonly unnamed: boolean;
  /** No other event can have this ID. */
  readonly is_new: boolean;
}

/**
 * The IDs of events, including those sent without one. Their rows have the same IDs live, in a replay of their
 * recording, and when they are sent again to another process.
 *
 * A derived ID contains tenant, run, type, tool call and time, and how many such events came before. It contains no
 * random value, and no clock of this process unless the event has no other time.
 */
export class EventIds {
  readonly #namesRows: boolean;
  readonly #counts = new RecentMap<number>(REMEMBERED);

  /** @param namesRows whether the log makes IDs for rows of events without one. */
  constructor(namesRows: boolean) {
    this.#namesRows = namesRows;
  }

  /**
   * @param at the time of the event.
   * @param again the event is a redelivery. Then it counts as the first of its kind.
   */
  of(
    event: AgentEvent,
    at: string | Readonly<Instant>,
    { clocked = false, details, event_id }: RecordRefs,
    again: boolean,
  ): EventId {
    const added = details?.recorder?.event_id_added === true;
    // Untyped programs may send any value. A log accepts no longer IDs, and no other types.
    const given = isText(event_id) && event_id !== "" && event_id.length <= MOST_ID;
    if (given && !added) return { event_id, unnamed: false, is_new: false };
    if (this.#namesRows && !added) return { event_id: undefined, unnamed: false, is_new: false };
    const is_new = clocked && !added;
    return { event_id: this.#made(event, at, is_new || again), unnamed: true, is_new };
  }

  /** @returns `undefined` if `at` cannot be read. Such an event leaves no row. */
  #made(event: AgentEvent, at: string | Readonly<Instant>, isFirst: boolean): string | undefined {
    const time = typeof at === "string" ? readTimestamp(at) : at;
    if (time === undefined) return undefined;
    const { run_id, tenant_id, type } = event;
    const call = "tool_use_id" in event ? `${event.tool_use_id}\0${event.tool}` : "";
    const run = canonicalRunId(run_id);
    const text = `event\0${tenant_id}\0${run}\0${type}\0${time[0]}.${time[1]}\0${call}`;
    const first = hashedUuid(text);
    if (isFirst) return first;
    const before = this.#counts.get(first) ?? 0;
    this.#counts.set(first, before + 1);
    return before === 0 ? first : hashedUuid(`${text}\0${before}`);
  }
}
