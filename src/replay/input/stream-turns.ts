import { compareInstants } from "../../events/door.ts";
import { compareBySequence, MAX_NESTING, type OrderItem } from "./order-item.ts";

/** How long an item has waited: not long enough, long enough, or as long as it may. */
export type Wait = "waits" | "due" | "overdue";

/** The first item of a stream that waits, and the last one that is overdue. */
interface Turn {
  waits: OrderItem | undefined;
  overdue: OrderItem | undefined;
}

/** Which items can go before others that still wait: for each stream by itself. A stream and those below it are one. */
export class StreamTurns {
  readonly #parentOf: (stream: string) => string | undefined;
  readonly #parents = new Map<string, string>();
  /** By the stream at the top, and by part. */
  readonly #turns = new Map<string, Turn>();

  /** @param parentOf the stream above a stream, where it is known. */
  constructor(parentOf: (stream: string) => string | undefined) {
    this.#parentOf = parentOf;
  }

  /** Learns which stream is above that of an item: of all items before the first is added. */
  learn(item: OrderItem): void {
    const { parent, stream } = item.place();
    if (parent !== undefined) this.#parents.set(stream, parent);
  }

  add(item: OrderItem, wait: Wait): void {
    if (wait === "due") return;
    const { part = "", stream } = item.place();
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
   * An overdue item goes, and what is before it in its stream. One that is due goes where no item up to its time waits
   * there: of equal times one that waits may have to go first.
   */
  goes(item: OrderItem, wait: Wait): boolean {
    const { part, stream } = item.place();
    const top = this.#topOf(stream);
    // A line that names no part may be of any.
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
