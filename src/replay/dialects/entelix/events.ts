import {
  type AgentEvent,
  type AgentEventType,
  asOne,
  count,
  type FAILURE_KIND_IDS,
  FAILURE_ORIGINS,
  type Form,
  flag,
  isWholeNumber,
  json,
  knownCost,
  limitBreachForm,
  list,
  name,
  nullish,
  oneOf,
  oneOfElse,
  optional,
  type RenderedForLlm,
  record,
  TOOL_ERROR_KINDS,
  tagged,
  text,
  tokens,
  usageForm,
  value,
  wholeNumber,
  withoutNull,
} from "../../../events/door.ts";

// The types are documented in `src/events`, since programs build these events too. The compiler compares them with the
// forms. Unknown members of closed sets are replaced by a known one, so that a failure of an unknown kind still closes
// its run.

/** A duration in ms. May have a fraction. */
const milliseconds = value(
  "milliseconds from 0",
  (given): given is number | bigint =>
    isWholeNumber(given) || (typeof given === "number" && given >= 0 && Number.isFinite(given)),
);

/** Text that passed the renderer when the event was sent. */
const renderedText = value(
  text.expected,
  (given): given is RenderedForLlm => typeof given === "string",
);

/** A recording without content has `null` instead of the text. */
const recordedText: Form<string> = {
  ...text,
  adapt: (given) => (given === null ? "" : given),
};

const toolErrorKind = oneOfElse(TOOL_ERROR_KINDS, "internal");

const errorEnvelope = record(
  {
    wire_code: text,
    wire_class: oneOfElse(["client", "server"], "server"),
    retry_after_secs: withoutNull(count),
    provider_status: withoutNull(wholeNumber),
    origin: withoutNull(oneOfElse(FAILURE_ORIGINS, "run")),
    cancelled: withoutNull(flag),
    breach: withoutNull(limitBreachForm),
  },
  "an object with wire_code and wire_class",
);

const failureKind = tagged(
  "type",
  {
    tool_error_terminal: record({ kind: toolErrorKind, tool_name: text }),
    usage_limit_exceeded: record({}),
    cancelled: record({}),
    deadline_exceeded: record({}),
    model_dispatch: record({}),
    internal: record({}),
    unclassified: record({}),
  } satisfies Readonly<Record<(typeof FAILURE_KIND_IDS)[number], Form<unknown>>>,
  {
    expected: 'an object such as {"type":"cancelled"}',
    adaptUnknown: () => ({ type: "unclassified" }),
  },
);

const interruptionKind = tagged(
  "type",
  {
    custom: record({}),
    approval_pending: record({ tool_use_id: text }),
    scheduled_pause: record({ phase: oneOf(["before", "after"]), node: text }),
  },
  {
    expected: 'an object such as {"type":"custom"}',
    expectedTag: "the name of an interruption kind",
    adaptUnknown: () => ({ type: "custom" }),
  },
);

const modelUsage = record(
  {
    input_tokens: tokens,
    output_tokens: tokens,
    cache_read_input_tokens: tokens,
    cache_write_input_tokens: tokens,
    reasoning_output_tokens: tokens,
  },
  "a usage object",
);

/** Fields of a model call's end, however it ended. */
const modelUse = {
  provider: nullish(text),
  usage: nullish(modelUsage),
  response_model: nullish(text),
  response_id: nullish(text),
  cost_usd: knownCost,
  retries: nullish(wholeNumber),
};

const number = value("a number", (given): given is number => typeof given === "number");

const parameters = record({
  temperature: nullish(number),
  top_p: nullish(number),
  top_k: nullish(number),
  max_tokens: nullish(number),
  frequency_penalty: nullish(number),
  presence_penalty: nullish(number),
  seed: nullish(number),
  choice_count: nullish(number),
  stop_sequences: nullish(asOne(list(text), "an array of text")),
  stream: nullish(flag),
  tool_choice: nullish(text),
  reasoning_effort: nullish(text),
  dimension_count: nullish(number),
});

/** A request without its messages. Content may be absent. */
const request = {
  provider: nullish(text),
  server_address: nullish(text),
  server_port: nullish(wholeNumber),
  parameters: nullish(parameters),
  system_instructions: optional(json),
  tools: optional(json),
  input: optional(json),
};

const ofRun = { run_id: text, tenant_id: name };
const ofTool = { ...ofRun, tool_use_id: text, tool: text };
const versioned = { tool_version: nullish(text) };
const ofStep = { ...ofRun, step_id: name, step: text };
const ofModel = {
  ...ofRun,
  model_call_id: name,
  model: nullish(text),
  operation: nullish(oneOfElse(["chat", "embeddings"], "chat")),
};

/** Every event of entelix's agents, 0.6.x and 0.5.x, and the model and step events of this package. */
export const ENTELIX_EVENTS = tagged("type", {
  started: record({ ...ofRun, parent_run_id: nullish(text), agent: text }),
  tool_start: record({ ...ofTool, ...versioned, input: json }),
  tool_complete: record({ ...ofTool, ...versioned, duration_ms: milliseconds, output: json }),
  tool_error: record({
    ...ofTool,
    ...versioned,
    error: text,
    error_for_llm: renderedText,
    kind: withoutNull(toolErrorKind),
    envelope: errorEnvelope,
    duration_ms: milliseconds,
  }),
  tool_call_asked: record(ofTool),
  tool_call_approved: record(ofTool),
  tool_call_denied: record({ ...ofTool, reason: recordedText }),
  complete: record({ ...ofRun, state: json, usage: nullish(usageForm) }),
  failed: record({
    ...ofRun,
    error: text,
    kind: withoutNull(failureKind),
    envelope: errorEnvelope,
  }),
  interrupted: record({ ...ofRun, kind: interruptionKind, payload: json }),
  model_start: record({ ...ofModel, ...request }),
  model_complete: record({
    ...ofModel,
    ...request,
    duration_ms: milliseconds,
    first_output_ms: nullish(milliseconds, milliseconds.expected),
    ...modelUse,
    finish_reasons: nullish(asOne(list(text), "an array of text")),
    output: optional(json),
  }),
  model_error: record({
    ...ofModel,
    duration_ms: milliseconds,
    error: text,
    kind: failureKind,
    envelope: errorEnvelope,
    server_address: request.server_address,
    server_port: request.server_port,
    ...modelUse,
  }),
  step_start: record({
    ...ofStep,
    kind: nullish(oneOfElse(["step", "retrieval"], "step")),
    input: optional(json),
  }),
  step_complete: record({ ...ofStep, duration_ms: milliseconds, output: optional(json) }),
  step_error: record({
    ...ofStep,
    duration_ms: milliseconds,
    error: text,
    envelope: errorEnvelope,
  }),
} satisfies {
  readonly [T in AgentEventType]: Form<Omit<Extract<AgentEvent, { readonly type: T }>, "type">>;
});
