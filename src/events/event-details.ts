import type { UsageSnapshot } from "./agent-event.ts";
import type { ExceptionDetails } from "./errors/exception-of.ts";
import {
  type Form,
  flag,
  type Infer,
  jsonOf,
  list,
  name,
  oneOf,
  oneOfElse,
  optional,
  text,
  value,
  withoutNull,
} from "./forms.ts";
import { isObject, record } from "./object-forms.ts";
import { usageForm } from "./usage-form.ts";

// Data of TypeScript agents for which entelix's events have no field. It is in one object of the envelope, so
// reading events of entelix's agents costs nothing more.

/** How a call was decided, beyond the fields of `tool_call_approved` and `tool_call_denied`. */
export interface DecisionDetails {
  /**
   * `edited`: approved with another input. `answered`: a person gave the result, and the tool was not called.
   * Default: the event's own outcome.
   */
  readonly outcome?: "approved" | "denied" | "edited" | "answered";
  /** Who decided: a person, or a rule of the program. */
  readonly by?: "user" | "policy";
  /** Personal data: name or ID of the person. */
  readonly person?: string;
  /** Content: the reason of an approval. A denial has its reason in the event. */
  readonly reason?: string;
  /** How long the decision took, in ms. */
  readonly wait_ms?: number;
  /** Content: the input before a person edited it. */
  readonly proposed_input?: unknown;
}

/** A call, run or step over the Model Context Protocol. */
export interface McpDetails {
  /** `mcp.method.name`: `tools/call`, `elicitation/create`, … */
  readonly method?: string;
  /** `mcp.protocol.version`. */
  readonly protocol_version?: string;
  /** `mcp.session.id`. */
  readonly session_id?: string;
  /** `jsonrpc.request.id`, as text. If a call has several requests, the last one. */
  readonly request_id?: string;
  /** `rpc.response.status_code`: the code of a JSON-RPC error, as text. */
  readonly status_code?: string;
  /** `network.transport`: `pipe` for a child process, `tcp` for HTTP. */
  readonly transport?: string;
  /** `server.address` and `server.port` of a server that a client reaches over HTTP. */
  readonly server_address?: string;
  readonly server_port?: number;
  /** For the end of an elicitation's step: the person's action. `entelix.elicitation.action`. */
  readonly elicitation?: "accept" | "decline" | "cancel";
}

/** How a recorded event differs from the one that was sent. */
export interface RecorderDetails {
  /** It was sent without an event ID. The recorder gave it one, which identifies repeated lines. */
  readonly event_id_added?: boolean;
  /** Fields whose values were cut, such as `output` or `details.decision.reason`. */
  readonly cut?: readonly string[];
}

/** What a run is: `gen_ai.operation.name`. */
export type RunOperation = "invoke_agent" | "invoke_workflow";

/**
 * The envelope's `details`: data of the sender beyond the fields of entelix's events. Every field is optional.
 */
export interface EventDetails {
  /** The user of the run: `user.id`. Personal data. With every event of the run, or only its first. */
  readonly user_id?: string;
  /** Labels of the run. With every event of the run, or only its first. */
  readonly tags?: readonly string[];
  /** Further data of the run, by name. With every event of the run, or only its first. */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * Time of the event as RFC 3339 text, if it was sent later. Spans and rows have this time. The envelope's
   * `timestamp` is the time of sending, which determines the order of events.
   */
  readonly happened_at?: string;
  /** Content: the input of the run. With `started`, or with the run's end if it was not known before. */
  readonly input?: unknown;
  /** Content: the run's answer (`complete`), or its question (`interrupted`). */
  readonly output?: unknown;
  /** The step of the run to which a call, another step or a child run (`started`) belongs. */
  readonly step_id?: string;
  /** For `started`: whether the run is an agent, or a workflow around agents. Default `invoke_agent`. */
  readonly operation?: RunOperation;
  /** For `started`: the agent that handed control to this run's agent. `entelix.handoff.from`. */
  readonly handoff_from?: string;
  /**
   * For a step, or the start and end of a tool call or model call: the run's tool call that contains it, by its
   * `call_key` if it has one. For `started`: that key of the parent's tool call.
   */
  readonly tool_use_id?: string;
  /**
   * For all events of a tool call: its own key, unique in its run, if another call with its `tool_use_id` is open.
   * Without keys, an end belongs to the oldest open call of its ID.
   */
  readonly call_key?: string;
  /** For `tool_start`: `gen_ai.tool.description`. */
  readonly tool_description?: string;
  /** For `tool_call_approved` and `tool_call_denied`. */
  readonly decision?: DecisionDetails;
  /** For `tool_error`: the text that the model received is unknown, and `error_for_llm` is empty. */
  readonly model_text?: "unknown";
  /** For `failed`, `tool_error`, `model_error` and `step_error`. */
  readonly exception?: ExceptionDetails;
  /**
   * For `failed` and `interrupted`: like `usage` of `complete`, what the run used since it started or resumed.
   */
  readonly usage?: UsageSnapshot;
  /**
   * With the usage of a run or a model call: a cost of `"0"` really is 0. Without it, `"0"` means unknown.
   */
  readonly cost_known?: boolean;
  /**
   * With the usage of a run: its model calls report none, and it has none of runs of other senders. So it is counted at
   * this end, also below another run.
   */
  readonly own_usage?: boolean;
  /** For the end of a model call: it stands for an unknown number of calls. Metrics of single calls leave it out. */
  readonly sums_calls?: boolean;
  /** For starts and ends of calls, runs and steps over the Model Context Protocol. */
  readonly mcp?: McpDetails;
  /** Set by a `RecorderSink`. */
  readonly recorder?: RecorderDetails;
}

const textMap = value(
  "an object of texts",
  (given): given is Readonly<Record<string, string>> =>
    isObject(given) && Object.values(given).every((each) => typeof each === "string"),
);

const milliseconds = value(
  "milliseconds from 0",
  (given): given is number => typeof given === "number" && given >= 0 && Number.isFinite(given),
);

const json = optional(jsonOf("a JSON value"));

const decision = record({
  outcome: withoutNull(oneOf(["approved", "denied", "edited", "answered"])),
  by: withoutNull(oneOfElse(["user", "policy"], "user")),
  person: withoutNull(name),
  reason: withoutNull(text),
  wait_ms: withoutNull(milliseconds),
  proposed_input: json,
});

const exception = record({
  type: text,
  message: withoutNull(text),
  stacktrace: withoutNull(text),
});

const port = value(
  "a whole number from 1 to 65,535",
  (given): given is number =>
    typeof given === "number" && Number.isInteger(given) && given > 0 && given <= 65_535,
);

const mcp = record({
  method: withoutNull(name),
  protocol_version: withoutNull(name),
  session_id: withoutNull(name),
  request_id: withoutNull(name),
  status_code: withoutNull(name),
  transport: withoutNull(name),
  server_address: withoutNull(name),
  server_port: withoutNull(port),
  elicitation: withoutNull(oneOf(["accept", "decline", "cancel"])),
});

const recorder = record({
  event_id_added: withoutNull(flag),
  cut: withoutNull(list(text)),
});

/** The form of an envelope's `details` on the wire. Unknown fields are allowed. */
export const eventDetails = record({
  user_id: withoutNull(name),
  tags: withoutNull(list(text)),
  metadata: withoutNull(textMap),
  happened_at: withoutNull(text),
  input: json,
  output: json,
  step_id: withoutNull(name),
  operation: withoutNull(oneOfElse(["invoke_agent", "invoke_workflow"], "invoke_agent")),
  handoff_from: withoutNull(name),
  tool_use_id: withoutNull(name),
  call_key: withoutNull(name),
  tool_description: withoutNull(text),
  decision: withoutNull(decision),
  model_text: withoutNull(oneOf(["unknown"])),
  exception: withoutNull(exception),
  usage: withoutNull(usageForm),
  cost_known: withoutNull(flag),
  own_usage: withoutNull(flag),
  sums_calls: withoutNull(flag),
  mcp: withoutNull(mcp),
  recorder: withoutNull(recorder),
}) satisfies Form<EventDetails>;

/** The type of decoded {@link eventDetails}. */
export type ReadDetails = Infer<typeof eventDetails>;
