import type { AttributeName } from "../semconv/semconv.ts";
import { MOST_INT } from "../value-limits.ts";
import type { SpanAttributeValue } from "./signal.ts";

/** Attributes by names that the attribute table has: a name outside it does not compile. */
export type SignalAttributes = { readonly [N in AttributeName]?: SpanAttributeValue | undefined };

/** Attributes that only their maker holds so far, and may add to. */
export type OwnAttributes = { -readonly [N in keyof SignalAttributes]: SignalAttributes[N] };

/** A count as an attribute's number. */
export function numberOf(count: number | bigint): number;
export function numberOf(count: number | bigint | null | undefined): number | undefined;
export function numberOf(count: number | bigint | null | undefined): number | undefined {
  return count == null ? undefined : Math.min(Number(count), MOST_INT);
}
