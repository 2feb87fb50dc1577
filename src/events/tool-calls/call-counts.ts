/** How many calls a run made, and what became of them. */
export interface CallCounts {
  readonly toolCalls: number;
  readonly toolErrors: number;
  readonly approvedCalls: number;
  readonly deniedCalls: number;
}
