/** Who has to act on an error: the caller (`client`) or the operator (`server`). */
export type WireClass = "client" | "server";

/**
 * The machine-readable side of an error, as entelix puts it beside the operator's text.
 *
 * Upstream: `ErrorEnvelope` of entelix-core. The optional fields are absent, never `null`, on the
 * wire.
 */
export interface ErrorEnvelope {
  /** Stable code such as `rate_limited` or `interrupted`. New codes may appear. */
  readonly wire_code: string;
  readonly wire_class: WireClass;
  /** Whole seconds to wait before a retry, truncated; `bigint` beyond 2^53. */
  readonly retry_after_secs?: number | bigint;
  /** HTTP status of the provider, when there was one. */
  readonly provider_status?: number;
}
