import type { JsonValue } from "../../events/exact-json.ts";

/** A whole number from 0; `bigint` beyond 2^53. */
export type Count = number | bigint;

/**
 * What a tool may do: read (`Observe`), or act and therefore ask first (`Confirm`). Newer agents may
 * name others. Upstream: `ToolTier`.
 */
export type ToolTier = "Observe" | "Confirm" | (string & {});

/** Upstream: `TokenUsage`. The cached ones are part of `input_tokens`. */
export interface TokenUsage {
  readonly input_tokens: Count;
  readonly output_tokens: Count;
  readonly cached_input_tokens?: Count;
  readonly cache_creation_input_tokens?: Count;
}

/** Bytes of an image or a document, in base64. Upstream: `ContentSource`. */
export interface ContentSource {
  readonly media_type: string;
  readonly data: string;
}

/** What a tool call gave back. Upstream: `ToolResult`. */
export interface ToolResult {
  readonly success: boolean;
  /** What user and model are shown; of a failed call its error text. */
  readonly output: string;
  readonly data?: JsonValue;
  readonly documents?: readonly ContentSource[] | null;
  /** Time the tool itself took, in ms; absent where it never ran. */
  readonly duration_ms?: Count | null;
}

/** One block of a user's input. Newer agents add types. Upstream: `ContentBlock`. */
export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: JsonValue;
}

/** A length of time: an object up to 0.9, milliseconds from 0.10 on. */
export type WireDuration = Count | { readonly secs: Count; readonly nanos: Count };

/** Why a run ended, as agents from 0.14 on say. Upstream: `TerminalReason`. */
export interface TerminalReason {
  readonly reason: string;
  /** Class of a `provider_error`. */
  readonly kind?: string | null;
}
