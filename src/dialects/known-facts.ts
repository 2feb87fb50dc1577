import { MOST_INT } from "../events/value-limits.ts";
import type { FactValue } from "../lifecycle/signal.ts";
import type { AttributeName } from "../otel/semconv.ts";

/** Facts by names that the attribute table has: a name outside it does not compile. */
export type KnownFacts = { readonly [N in AttributeName]?: FactValue | undefined };

/** Facts that nobody else holds yet: who made them may add to them. */
export type OwnFacts = { -readonly [N in keyof KnownFacts]: KnownFacts[N] };

/** A count as an attribute's number. */
export function numberOf(count: number | bigint): number;
export function numberOf(count: number | bigint | null | undefined): number | undefined;
export function numberOf(count: number | bigint | null | undefined): number | undefined {
  return count == null ? undefined : Math.min(Number(count), MOST_INT);
}
