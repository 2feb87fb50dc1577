import { RecentMap } from "../../lifecycle/recent-map.ts";
import type { RowAnchor } from "../audit-row.ts";

/** More than a segment of some gigabytes has, and fewer than a Map takes. */
const MAX_OF_SEGMENT = 2 ** 23;

/**
 * Where the rows of the last events are, so that a redelivered event is not written twice. Events
 * go by their name: the text of their thread and their id.
 *
 * At least `least` event ids are remembered, and at most twice as many: about 300 bytes each. Or, where
 * those of sealed segments are looked up, those of the segment being written and of the one before.
 */
export class SeenEvents {
  readonly #stored: RecentMap<RowAnchor>;
  readonly #bySegment: boolean;
  /** Queued and not yet stored; bounded by what the queue holds. */
  readonly #pending = new Map<string, RowAnchor>();

  constructor(least: number, bySegment = false) {
    this.#bySegment = bySegment;
    this.#stored = new RecentMap(bySegment ? Math.max(least, MAX_OF_SEGMENT) : least);
  }

  /** Where the event's row is, or will be. */
  placeOf(name: string): RowAnchor | undefined {
    return this.#pending.get(name) ?? this.#stored.get(name);
  }

  /** Whether its row still waits to be stored. */
  isQueued(name: string): boolean {
    return this.#pending.has(name);
  }

  queued(name: string, place: RowAnchor): void {
    this.#pending.set(name, place);
  }

  stored(name: string, place: RowAnchor): void {
    this.#pending.delete(name);
    this.#stored.set(name, place);
  }

  /** The segment being written was sealed. */
  sealed(): void {
    if (this.#bySegment) this.#stored.nextGeneration();
  }

  /** Nothing of what was queued has been stored. */
  forgetQueued(): void {
    this.#pending.clear();
  }
}
