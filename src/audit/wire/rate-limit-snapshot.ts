/**
 * What a provider's response headers said about its rate limits.
 *
 * Upstream: `RateLimitSnapshot` of entelix-core. What the provider did not say is written as `null`.
 */
export interface RateLimitSnapshot {
  readonly requests_remaining?: number | bigint | null;
  readonly tokens_remaining?: number | bigint | null;
  /** RFC 3339. */
  readonly requests_reset_at?: string | null;
  /** RFC 3339. */
  readonly tokens_reset_at?: string | null;
  /** The headers this was read from. Default none. */
  readonly raw?: Readonly<Record<string, string>>;
}
