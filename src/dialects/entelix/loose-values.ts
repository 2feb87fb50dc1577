import type { FailureKind, ToolErrorKind } from "../../errors/error-kinds.ts";
import { MOST_INT } from "../../events/value-limits.ts";

// Programs without types leave fields out, or put something else there. What is not what it should be
// counts as absent.

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A failure kind, also one that a newer agent added; `undefined` where it does not say which it is. */
export function failureKindIn(kind: FailureKind | null | undefined): FailureKind | undefined {
  return typeof kind === "object" && textIn(kind?.type) ? (kind ?? undefined) : undefined;
}

/** The same for a tool error kind. */
export function toolErrorKindIn(kind: ToolErrorKind | null | undefined): ToolErrorKind | undefined {
  return textIn(kind) ? (kind ?? undefined) : undefined;
}

/** The texts of a list; `undefined` where there is none. */
export function textsIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one: unknown) => typeof one === "string");
  return texts.length === 0 ? undefined : texts;
}

/** A duration in ms, 0 where there is none. */
export function millisecondsIn(value: unknown): number {
  if (typeof value === "number") return value > 0 ? value : 0;
  return typeof value === "bigint" ? Number(value) : 0;
}

/** Milliseconds as seconds; `undefined` where there are none. */
export function secondsIn(milliseconds: unknown): number | undefined {
  const isTime = typeof milliseconds === "number" || typeof milliseconds === "bigint";
  return isTime && milliseconds >= 0 ? Number(milliseconds) / 1000 : undefined;
}

/** A whole number from 0 as an attribute's number. */
export function countIn(value: unknown): number | undefined {
  if (typeof value === "bigint") return value < 0n ? undefined : Math.min(Number(value), MOST_INT);
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) return undefined;
  return Math.min(value, MOST_INT);
}
