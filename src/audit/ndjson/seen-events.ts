import { RecentMap } from "../../lifecycle/recent-map.ts";
import type { RowAnchor, ThreadKey } from "../audit-row.ts";
import { threadText } from "../thread-text.ts";

/**
 * Where the rows of the last events are, so that a redelivered event is not written twice.
 *
 * At least `least` event ids are remembered, and at most twice as many: about 300 bytes each.
 */
export class SeenEvents {
  readonly #stored: RecentMap<RowAnchor>;
  /** Queued and not yet stored; bounded by what the queue holds. */
  readonly #pending = new Map<string, RowAnchor>();

  constructor(least: number) {
    this.#stored = new RecentMap(least);
  }

  /** Where the event's row is, or will be. */
  placeOf(key: ThreadKey, eventId: string): RowAnchor | undefined {
    const name = threadText(key) + eventId;
    return this.#pending.get(name) ?? this.#stored.get(name);
  }

  /** Whether its row still waits to be stored. */
  isQueued(key: ThreadKey, eventId: string): boolean {
    return this.#pending.has(threadText(key) + eventId);
  }

  queued(key: ThreadKey, eventId: string, place: RowAnchor): void {
    this.#pending.set(threadText(key) + eventId, place);
  }

  stored(key: ThreadKey, eventId: string, place: RowAnchor): void {
    const name = threadText(key) + eventId;
    this.#pending.delete(name);
    this.#stored.set(name, place);
  }

  /** Nothing of what was queued has been stored. */
  forgetQueued(): void {
    this.#pending.clear();
  }
}
