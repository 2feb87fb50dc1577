/**
 * What a vendor's safety filter rates. Upstream: `SafetyCategory` of entelix-core, tagged by `kind`;
 * a category that upstream has no name for keeps the vendor's in `raw`.
 */
export type SafetyCategory =
  | { readonly kind: "harassment" }
  | { readonly kind: "hate_speech" }
  | { readonly kind: "sexually_explicit" }
  | { readonly kind: "dangerous_content" }
  | { readonly kind: "other"; readonly raw: string };

/** How strongly a safety category was rated. */
export type SafetyLevel = "negligible" | "low" | "medium" | "high";

/** One rating of a vendor's safety filter. */
export interface SafetyRating {
  readonly category: SafetyCategory;
  readonly level: SafetyLevel;
}

/**
 * The tokens of one model call, as the vendor reported them; each count below 2^32.
 *
 * Not the budget of a run: that is `UsageSnapshot`. Upstream: `Usage` of entelix-core. The fields
 * that may be left out are written with their default.
 */
export interface ModelUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Read from the prompt cache. Default 0. */
  readonly cached_input_tokens?: number;
  /** Written to the prompt cache. Default 0. */
  readonly cache_creation_input_tokens?: number;
  /** Default 0. */
  readonly reasoning_tokens?: number;
  /** Default none. */
  readonly safety_ratings?: readonly SafetyRating[];
}
