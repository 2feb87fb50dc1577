import {
  flag,
  type Infer,
  isCount,
  list,
  optional,
  record,
  text,
  value,
} from "../../events/door.ts";

/** Counts in a list of runs never exceed 2^53. */
const whole = value("a whole number from 0", isCount);

/** An open run in `GET /v1/runs`. */
const OPEN_RUN = record({
  tenant_id: text,
  run_id: text,
  parent_run_id: optional(text),
  root_run_id: text,
  trace_id: text,
  span_id: text,
  sampled: flag,
  agent: optional(text),
  thread_id: optional(text),
  started_at: text,
  age_ms: whole,
  idle_ms: whole,
  // A newer service may add kinds.
  waits_for: record({ kind: text, name: optional(text), since_ms: whole }),
  input_tokens: optional(whole),
  output_tokens: optional(whole),
  cost_usd: optional(text),
});

/** The answer of `GET /v1/runs`. A newer service may add fields. */
export const OPEN_RUNS = record({ at: text, left_out: whole, runs: list(OPEN_RUN) });

export type OpenRunsAnswer = Infer<typeof OPEN_RUNS>;
export type OpenRunOnWire = Infer<typeof OPEN_RUN>;
