import type { FailureKind } from "../errors/error-kinds.ts";

// Untyped programs may leave fields out or send other values. A value of a wrong type counts as absent.

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A non-empty text. */
export function nameIn(value: unknown): string | undefined {
  return textIn(value) || undefined;
}

/** A failure kind, also one that a newer agent added. `undefined` if it has no type. */
export function failureKindIn(kind: FailureKind | null | undefined): FailureKind | undefined {
  return typeof kind === "object" && textIn(kind?.type) ? (kind ?? undefined) : undefined;
}
