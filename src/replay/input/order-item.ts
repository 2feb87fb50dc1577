import type { Instant } from "../../events/door.ts";
import {
  type Dialect,
  EVENT_RANK,
  type EventRank,
  type LineEnvelope,
  type StreamKey,
} from "../dialects/dialect.ts";

/** Far more than agents nest. Ends a loop of parents that name each other. */
export const MAX_NESTING = 64;

/** The properties that decide the order of events. */
export interface OrderItem {
  /** Time of the event. */
  readonly at: Readonly<Instant>;
  readonly rank: EventRank;
  /** Orders items of one stream. */
  readonly sequence: number | bigint | undefined;
  readonly eventId: string | undefined;
  /** Line number, if the dialect's lines are in the order of their events and the line has no sequence. */
  readonly position?: number | undefined;
  /** The line. Decides if all else is equal. */
  readonly text: string;
  /** The stream of the item. Called for items that open a run, and if times are equal. */
  streamKey(): StreamKey;
  /** A name of its stream and part. Two streams may share one. */
  streamName(): string;
}

/** The {@link OrderItem.position} of a line. */
export function positionOf({ dialect, envelope, line }: NumberedLine): number | undefined {
  return dialect.inOrder === true && envelope.sequence === undefined ? line : undefined;
}

interface NumberedLine {
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

/** Orders items without sequences by rank, event ID and text. Zero for equal lines only. */
export function compareByRank(a: OrderItem, b: OrderItem): number {
  return a.rank - b.rank || compare(a.eventId ?? "", b.eventId ?? "") || compare(a.text, b.text);
}

/** Orders items of one stream whose sequences are all known. */
export function compareBySequence(a: OrderItem, b: OrderItem): number {
  return compare(a.sequence ?? 0, b.sequence ?? 0) || compareByRank(a, b);
}

/** Orders items of different streams: by position if both have one. */
export function compareAcross(a: OrderItem, b: OrderItem): number {
  if (a.position === undefined || b.position === undefined) return compareByRank(a, b);
  return a.position - b.position;
}

function compare<T extends string | number | bigint>(a: T, b: T): number {
  if (a < b) return -1;
  return a > b ? 1 : 0;
}
