import type { Counters } from "./counters.ts";
import { IdCache } from "./id-cache.ts";

/** The IDs of the last events: an event that has come before changes nothing. */
export class SeenEvents {
  readonly #ids: IdCache;
  readonly #counters: Counters;

  /** @param most IDs that are remembered. */
  constructor(most: number, counters: Counters) {
    this.#ids = new IdCache(most);
    this.#counters = counters;
  }

  /**
   * Whether an event has come before, which is counted then: none of its signals may be applied.
   *
   * @param eventId programs without types give `null` and `""` for none; no two events share those.
   */
  isRepeat(tenantId: string, eventId: string): boolean {
    if (typeof eventId !== "string" || eventId === "") return false;
    if (!this.#ids.add(tenantId, eventId)) {
      this.#counters.ignored.duplicate++;
      return true;
    }
    this.#counters.adjustments.forgotten_event_ids = this.#ids.forgotten;
    return false;
  }
}
