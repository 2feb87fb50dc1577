import type { MetricAttribute, MetricName } from "./metric-names.ts";

/** What the reference page says of a metric beside its description. Apart, so that bundles leave it out. */
export const METRIC_NOTES: { readonly [N in MetricName]?: string } = {
  "gen_ai.invoke_agent.duration":
    "Each segment of a run that continued after a pause is measured, if it has both.",
  "gen_ai.execute_tool.duration":
    "From its end event. If that has none: from its start to its end.",
  "gen_ai.invoke_agent.tool_calls":
    "Each segment of a run that continued after a pause is measured.",
  "gen_ai.invoke_agent.inference_calls":
    "Each segment is measured. Runs without any reported model call are not.",
  "gen_ai.client.inference.duration":
    "From its start to its last output or its failure. A call without a reported end is not measured.",
  "gen_ai.client.inference.time_to_first_chunk":
    "Only of calls whose source reports it: those that were streamed.",
  "gen_ai.client.operation.duration":
    "With `gen_ai/dup` also of all other model calls, which had this name before.",
  "gen_ai.client.inference.operation.input_tokens":
    "Only calls that report usage are measured, failed ones too.",
  "gen_ai.client.inference.operation.output_tokens":
    "Only calls that report usage are measured, failed ones too.",
  "gen_ai.client.inference.usage.input_tokens": "From the ends of the calls, embeddings included.",
  "gen_ai.client.inference.usage.output_tokens": "From the ends of the calls.",
  "gen_ai.client.inference.usage.cache_read.input_tokens":
    "Part of the input tokens. A series starts with the first call that reports them.",
  "gen_ai.client.inference.usage.cache_write.input_tokens":
    "Part of the input tokens. A series starts with the first call that reports them.",
  "gen_ai.client.inference.usage.reasoning.output_tokens":
    "Part of the output tokens. A series starts with the first call that reports them.",
  "gen_ai.client.token.usage": "Only with `gen_ai/dup`.",
  "gen_ai.client.operation.time_to_first_chunk": "Only with `gen_ai/dup`.",
  "entelix.runs": "A run that continued after a pause counts twice.",
  "entelix.runs.working_time":
    "From its `started` to its answer or its pause, without the time in which it or a descendant waited for a person's decision. A wait before the run is not part of it. Each segment of a run that continued after a pause is measured. Failed and abandoned runs are not measured.",
  "entelix.runs.degraded": "A run counts once for each such tool.",
  "entelix.runs.looping":
    "Counted when the loop is detected. A run counts once until it pauses. If two tools alternate, the label is the first by name.",
  "entelix.failures":
    "Failures of one cause share a fingerprint. A fingerprint without a failure for 24 hours is dropped.",
  "entelix.tool.failures": "Pauses, denials and cancelled calls do not count.",
  "entelix.tool.cancelled": "By a user, a deadline, or the end of their run.",
  "entelix.tokens":
    "If model calls report usage: counted at the end of each call, for the agent that called, also in runs that fail, pause or stay open. For other trees of runs: the root's usage at its end, including sub-agents. Never both.",
  "entelix.cost":
    "Counted like `entelix.tokens`. Unknown costs are not counted. It is a double: for accounting, use the decimal on the run's span or audit row.",
  "entelix.bridge.adjustments":
    "Only `tenant_conflicts` has a tenant: the one whose event named a run or trace of another tenant.",
  "entelix.bridge.spans_dropped": "Only with `setupTelemetry`.",
};

/**
 * All attributes of the metrics, with their values. None is an ID, and none is a sender's free text without
 * a cap.
 */
export const METRIC_ATTRIBUTES = {
  "gen_ai.agent.name":
    "Name of the agent or workflow; `unknown` for a run without a name, `_other` above the cap.",
  "gen_ai.workflow.name": "Name of the workflow, capped like an agent's name.",
  "gen_ai.tool.name": "Name of the tool; `_other` above the cap.",
  "gen_ai.tool.type": "Always `function`.",
  "gen_ai.operation.name": "Operation of a model call: `chat` or `embeddings`.",
  "gen_ai.provider.name":
    "Provider that answered, also after a fallback: `openai`, `anthropic`, …; `unknown` if the call has none, `_other` from the 21st.",
  "gen_ai.request.model":
    "The requested model; the one that answered if the call names no other, `unknown` without both, `_other` above the cap.",
  "gen_ai.response.model":
    "The model that answered, where the call names it; absent otherwise, `_other` above the cap of models.",
  "server.address":
    "Host of the model's API, where the call names it; absent otherwise, `_other` from the 21st.",
  "server.port": "Its port, where the call names it.",
  "gen_ai.token.modality": "Always `unknown`.",
  "gen_ai.token.type": "`input` or `output`.",
  "error.type":
    "Only on failures: the failure kind of a run or model call (not a benign one), the tool error kind of a call, or `_OTHER`.",
  "entelix.failure.fingerprint":
    "Kind, origin, tool or model, class of the error and wire code of a failure, with `|` between them; `_other` from the 100th.",
  "entelix.tenant_id": "The tenant; `_other` above the cap or outside the allow-list.",
  "entelix.run.outcome":
    "`complete`, `failed`, `interrupted`, `abandoned`; `refused` if the model declined.",
  "entelix.run.waits_for":
    "What an open run waits for, the first that applies: `approval` (a call waits for a decision, or for a child run that has paused), `tool` (a call without an open child run), `model`, `child` (an open child run), `nothing` (it is between calls). `unknown` if it may have ended.",
  "entelix.failure.kind":
    "Only with outcome `failed`: one of the seven failure kinds; `_OTHER` for one that is newer than this package.",
  "entelix.failure.origin":
    "Only with outcome `failed`: where the failure arose, `model`, `tool` or `run`. If the event has none: `tool` for `tool_error_terminal`, `model` for `model_dispatch`, else `run`.",
  "entelix.tool.error_kind":
    "One of the seven tool error kinds; `_OTHER` if the source has none, or one that is newer than this package.",
  "entelix.run.loop":
    "`repeat`: calls of a tool with equal input in a row. `ping_pong`: two calls that alternate, with equal results. `poll`: calls with equal input and equal results.",
  "entelix.root":
    "`true` for a run without a parent, or with an unconfirmed parent. A failure that passed through nested runs is one failed root run.",
  "entelix.reason": "Why: the names in `diagnostics()`.",
  "entelix.label": "`tenant`, `agent`, `tool` or `model` (a provider or server, too).",
} as const satisfies Record<MetricAttribute, string>;
