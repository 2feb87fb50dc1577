import { compareInstants } from "../../events/door.ts";
import { compareBySequence, MAX_NESTING, type OrderItem } from "./order-item.ts";

/** How long an item has waited: not long enough, long enough, or for the maximum time. */
export type Wait = "waits" | "due" | "overdue";

/** The first waiting and the last overdue item of a stream. */
interface Turn {
  waits: OrderItem | undefined;
  overdue: OrderItem | undefined;
}

/** Decides which items may go before waiting ones, for each stream alone. A stream and its children count as one. */
export class StreamTurns {
  readonly #parentOf: (stream: string) => string | undefined;
  readonly #parents = new Map<string, string>();
  /** By top stream, and by part. */
  readonly #turns = new Map<string, Turn>();

  /** @param parentOf the parent of a stream, if known. */
  constructor(parentOf: (stream: string) => string | undefined) {
    this.#parentOf = parentOf;
  }

  /** Learns the parent of the item's stream. Call it for all items before the first {@link add}. */
  learn(item: OrderItem): void {
    const { parent, stream } = item.streamKey();
    if (parent !== undefined) this.#parents.set(stream, parent);
  }

  add(item: OrderItem, wait: Wait): void {
    if (wait === "due") return;
    const { part = "", stream } = item.streamKey();
    const top = this.#topOf(stream);
    for (const key of [top, `${top}\0${part}`]) {
      const turn = this.#turns.get(key) ?? { waits: undefined, overdue: undefined };
      this.#turns.set(key, turn);
      const known = turn[wait];
      const isBetter = wait === "waits" ? isBefore : isAfter;
      if (known === undefined || isBetter(item, known)) turn[wait] = item;
    }
  }

  /**
   * Whether an item may go. Overdue items go, with all earlier items of their stream. A due item goes if no item of an
   * earlier or equal time waits in its stream: the waiting one may have to go first.
   */
  goes(item: OrderItem, wait: Wait): boolean {
    const { part, stream } = item.streamKey();
    const top = this.#topOf(stream);
    // A line without a part may belong to any part.
    const keys = part === undefined ? [top] : [`${top}\0${part}`, `${top}\0`];
    const turns = keys.map((key) => this.#turns.get(key));
    if (turns.some((turn) => turn?.overdue !== undefined && !isAfter(item, turn.overdue)))
      return true;
    const isFirst = (turn: Turn | undefined) =>
      turn?.waits === undefined || compareInstants(item.at, turn.waits.at) < 0;
    return wait === "due" && turns.every(isFirst);
  }

  #topOf(stream: string): string {
    let top = stream;
    for (let level = 0; level < MAX_NESTING; level += 1) {
      const above = this.#parents.get(top) ?? this.#parentOf(top);
      if (above === undefined) break;
      top = above;
    }
    return top;
  }
}

function isBefore(item: OrderItem, other: OrderItem): boolean {
  return compareInstants(item.at, other.at) < 0;
}

function isAfter(item: OrderItem, other: OrderItem): boolean {
  return (compareInstants(item.at, other.at) || compareBySequence(item, other)) > 0;
}
