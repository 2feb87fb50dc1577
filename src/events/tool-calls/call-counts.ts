/** Number of a run's tool calls, by outcome. */
export interface CallCounts {
  readonly toolCalls: number;
  readonly toolErrors: number;
  readonly approvedCalls: number;
  readonly deniedCalls: number;
}
