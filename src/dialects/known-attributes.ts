import { MOST_INT } from "../events/value-limits.ts";
import type { SpanAttributeValue } from "../lifecycle/signal.ts";
import type { AttributeName } from "../otel/semconv.ts";

/** Attributes by names that the attribute table has: a name outside it does not compile. */
export type KnownAttributes = { readonly [N in AttributeName]?: SpanAttributeValue | undefined };

/** Attributes that only their maker holds so far, and may add to. */
export type OwnAttributes = { -readonly [N in keyof KnownAttributes]: KnownAttributes[N] };

/** A count as an attribute's number. */
export function numberOf(count: number | bigint): number;
export function numberOf(count: number | bigint | null | undefined): number | undefined;
export function numberOf(count: number | bigint | null | undefined): number | undefined {
  return count == null ? undefined : Math.min(Number(count), MOST_INT);
}
