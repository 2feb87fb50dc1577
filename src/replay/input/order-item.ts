import type { Instant } from "../../events/door.ts";
import {
  type Dialect,
  EVENT_RANK,
  type EventRank,
  type LineEnvelope,
  type StreamKey,
} from "../dialects/dialect.ts";

/** Far more than agents nest; ends a loop of parents that name each other. */
export const MAX_NESTING = 64;

/** What the order of events depends on. */
export interface OrderItem {
  /** When it happened. */
  readonly at: Readonly<Instant>;
  readonly rank: EventRank;
  /** Orders the items of one stream. */
  readonly sequence: number | bigint | undefined;
  readonly eventId: string | undefined;
  /** Its place in a source whose lines stand in the order of their events, where no sequence says more. */
  readonly position?: number | undefined;
  /** The line itself: decides between items that nothing else tells apart. */
  readonly text: string;
  /** Asked for items that open a run, and where times are equal. */
  place(): StreamKey;
  /** A name of its stream and part, which another one may have, too. */
  streamName(): string;
}

/** The {@link OrderItem.position} of a line: its number, where its dialect's lines stand in order. */
export function positionOf({ dialect, envelope, line }: PlacedLine): number | undefined {
  return dialect.inOrder === true && envelope.sequence === undefined ? line : undefined;
}

interface PlacedLine {
  readonly dialect: Pick<Dialect<never>, "inOrder">;
  readonly envelope: Pick<LineEnvelope, "sequence">;
  readonly line: number;
}

/** Whether the item opens a run or a call, or comes before a call. */
export function opens(item: OrderItem): boolean {
  return item.rank < EVENT_RANK.note;
}

/** Whether the item closes a call or a run. */
export function closes(item: OrderItem): boolean {
  return item.rank > EVENT_RANK.note;
}

/** Order of items that no sequence orders: by rank, event id, text. Zero for equal lines only. */
export function compareByRank(a: OrderItem, b: OrderItem): number {
  return a.rank - b.rank || compare(a.eventId ?? "", b.eventId ?? "") || compare(a.text, b.text);
}

/** Order of items of one stream whose sequences are all known. */
export function compareBySequence(a: OrderItem, b: OrderItem): number {
  return compare(a.sequence ?? 0, b.sequence ?? 0) || compareByRank(a, b);
}

/** Order of items of different streams: as they stand in their source, where that says anything. */
export function compareAcross(a: OrderItem, b: OrderItem): number {
  if (a.position === undefined || b.position === undefined) return compareByRank(a, b);
  return a.position - b.position;
}

function compare<T extends string | number | bigint>(a: T, b: T): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}
