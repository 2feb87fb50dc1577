/**
 * What a run has used of its budget when it completed.
 *
 * A budget is shared by a run and all its sub-agents, so a child's figures contain its parent's.
 * Upstream: `UsageSnapshot` of entelix-core.
 */
export interface UsageSnapshot {
  /** Model requests made. */
  readonly requests: number;
  /** Tokens; `bigint` beyond 2^53. */
  readonly input_tokens: number | bigint;
  /** Tokens; `bigint` beyond 2^53. */
  readonly output_tokens: number | bigint;
  readonly tool_calls: number;
  /** US dollars as a decimal string. The scale is kept: `"0.30"` is not `"0.3"`. */
  readonly cost_usd: string;
}
