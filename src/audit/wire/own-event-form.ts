import {
  cost,
  type FailureKindId,
  type FailureOrigin,
  type Form,
  isCount,
  jsonOf,
  list,
  oneOf,
  optional,
  readTimestamp,
  record,
  textWhere,
  value,
  count as wholeCount,
  wholeNumber,
} from "../../events/door.ts";
import type { OwnGraphEvent, OwnGraphEventKind } from "./own-event.ts";

// The fields are in the order in which they are written.

const text = textWhere("a string");
const time = textWhere("an RFC 3339 time", (given) => readTimestamp(given) !== undefined);
const json = jsonOf("a JSON value");
const count = value("a whole number from 0", isCount);
const wait = value(
  "milliseconds from 0",
  (given): given is number => typeof given === "number" && given >= 0 && Number.isFinite(given),
);
/** Later versions may have more of them. */
const failureKind: Form<FailureKindId | (string & {})> = text;
const origin: Form<FailureOrigin | (string & {})> = text;

const usage = record(
  {
    requests: optional(wholeNumber),
    input_tokens: optional(wholeCount),
    output_tokens: optional(wholeCount),
    tool_calls: optional(wholeNumber),
    cost_usd: optional(cost),
    cache_read_input_tokens: optional(wholeCount),
    cache_write_input_tokens: optional(wholeCount),
  },
  "a usage object",
);

/** Every kind of this package's own. */
export const OWN_VARIANTS = {
  "entelix.run_started": record({
    agent: optional(text),
    parent_run_id: optional(text),
    parent_tool_use_id: optional(text),
    handoff_from: optional(text),
    resumed_from_run_id: optional(text),
    segment: optional(count),
    user_id: optional(text),
    session_id: optional(text),
    input: optional(json),
    cut: optional(list(text)),
    timestamp: time,
  }),
  "entelix.run_ended": record({
    outcome: oneOf(["complete", "failed", "refused", "interrupted"]),
    failure_kind: optional(failureKind),
    origin: optional(origin),
    tool_name: optional(text),
    tool_calls: optional(count),
    tool_errors: optional(count),
    approved_calls: optional(count),
    denied_calls: optional(count),
    degraded: optional(list(text, "a list of tools")),
    loop: optional(text),
    usage: optional(usage),
    input: optional(json),
    cut: optional(list(text)),
    timestamp: time,
  }),
  "entelix.tool_call_decided": record({
    tool_use_id: text,
    name: text,
    decision: oneOf(["approved", "denied", "edited", "answered"]),
    by: optional(oneOf(["user", "policy"])),
    person: optional(text),
    reason: optional(text),
    wait_ms: optional(wait),
    proposed_input: optional(json),
    cut: optional(list(text)),
    timestamp: time,
  }),
} satisfies {
  readonly [K in OwnGraphEventKind]: Form<
    Omit<Extract<OwnGraphEvent, { readonly kind: K }>, "kind">
  >;
};
