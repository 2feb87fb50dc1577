import type { AttributeValue } from "@opentelemetry/api";

/**
 * Every attribute this package sets, once. `docs/attributes.md` is generated from this table, and
 * the compiler holds every use to it.
 *
 * `gen_ai.*` names are copied from open-telemetry/semantic-conventions-genai at commit e07f4eb
 * (2 October 2026, status "development"): they are in no npm package under their present names.
 * `entelix.*` names follow upstream's own where it has one.
 */
export const ATTRIBUTES = {
  "gen_ai.operation.name": on(
    "run, call, model, step",
    "string",
    "`invoke_agent`, `execute_tool`, `chat` or `retrieval`; other steps have none.",
  ),
  "gen_ai.request.model": on(
    "model, run",
    "string",
    "The model, where the source names it; on a run, a sub-agent's.",
  ),
  "gen_ai.provider.name": on(
    "model, event",
    "string",
    "The model's provider, where the source names it; on an event the one whose account was changed.",
  ),
  "server.address": on("model", "string", "Host of the model's API, where the sender knows it."),
  "server.port": on("model", "int", "Its port."),
  "gen_ai.request.temperature": on("model", "double", "Temperature that was asked for."),
  "gen_ai.request.top_p": on("model", "double", "Share of the probability to sample from."),
  "gen_ai.request.top_k": on("model", "int", "Number of tokens to sample from."),
  "gen_ai.request.max_tokens": on("model", "int", "Most tokens of the answer."),
  "gen_ai.request.frequency_penalty": on("model", "double", "Frequency penalty."),
  "gen_ai.request.presence_penalty": on("model", "double", "Presence penalty."),
  "gen_ai.request.seed": on("model", "int", "Seed of the sampling."),
  "gen_ai.request.choice.count": on("model", "int", "Answers that were asked for, unless 1."),
  "gen_ai.request.stop_sequences": on(
    "model",
    "string[]",
    "Texts that end the answer; at most 32.",
  ),
  "gen_ai.request.stream": on("model", "boolean", "`true` where the answer was to be streamed."),
  "gen_ai.request.reasoning.level": on("model", "string", "How much the model was to reason."),
  "entelix.request.tool_choice": on(
    "model",
    "string",
    "`auto`, `none`, `required`, or the tool that the model had to call.",
  ),
  "gen_ai.response.model": on("model", "string", "The model that answered."),
  "gen_ai.response.id": on("model", "string", "The provider's id of the answer."),
  "gen_ai.response.time_to_first_chunk": on(
    "model",
    "double",
    "Seconds from the start of the attempt that answered to its first output.",
  ),
  "gen_ai.response.finish_reasons": on(
    "run, model",
    "string[]",
    "Why the model stopped; on a run, its last call, where the run's end says so.",
  ),
  "gen_ai.input.messages": content(
    "run, model",
    "What the model or the run was asked: messages in the conventions' form, as JSON.",
  ),
  "gen_ai.output.messages": content(
    "run, model",
    "What the model or the run answered, or what a paused run asks: messages, as JSON. Each has a `finish_reason`.",
  ),
  "gen_ai.system_instructions": content(
    "model",
    "What the model is told beside the messages: a list of parts, as JSON.",
  ),
  "gen_ai.tool.definitions": content("model", "The tools that the model may call, as JSON."),
  "entelix.content.cut_bytes": on(
    "run, call, step, model",
    "int",
    "Bytes of content that the span does not have because of `maxValueBytes` and `maxMessageBytes`.",
  ),
  "entelix.content.dropped_messages": on(
    "run, model",
    "int",
    "Messages that were dropped because of `maxMessageBytes`.",
  ),
  "gen_ai.agent.name": on("run, call, model, step, marker, event", "string", "Name of the agent."),
  "gen_ai.conversation.id": on(
    "run, call, model",
    "string",
    "Thread id, only where the source gave one.",
  ),
  "user.id": on("run", "string", "The person whose run it is. Only where the sender gave it."),
  "session.id": on("run", "string", "Session of the application. Only where the sender gave it."),
  "gen_ai.tool.name": on("call, event", "string", "Name of the tool."),
  "gen_ai.tool.call.id": on("call, event", "string", "Tool-use id; not unique, may be empty."),
  "gen_ai.tool.description": on(
    "call",
    "string",
    "What the tool is for, where the sender says it; at most 4,096 characters.",
  ),
  "gen_ai.tool.type": on("call", "string", "Always `function`."),
  "gen_ai.tool.call.arguments": content("call", "Input of the call, as JSON."),
  "gen_ai.tool.call.result": content("call", "Output of the call, as JSON, when it succeeded."),
  "gen_ai.usage.input_tokens": on(
    "run, model",
    "int",
    "Input tokens: of a model call its own, of a root run those of the whole tree.",
  ),
  "gen_ai.usage.output_tokens": on(
    "run, model",
    "int",
    "Output tokens: of a model call its own, of a root run those of the whole tree.",
  ),
  "gen_ai.usage.cache_read.input_tokens": on(
    "run, model",
    "int",
    "Input tokens read from the prompt cache; part of the input tokens.",
  ),
  "gen_ai.usage.cache_write.input_tokens": on(
    "run, model",
    "int",
    "Input tokens written to the prompt cache; part of the input tokens.",
  ),
  "gen_ai.usage.cache_creation.input_tokens": on(
    "run, model",
    "int",
    "The same under its older name, which Phoenix and Langfuse read.",
  ),
  "gen_ai.usage.reasoning.output_tokens": on(
    "model",
    "int",
    "Output tokens spent on reasoning; part of the output tokens.",
  ),
  "gen_ai.retrieval.query.text": content("step", "What a retrieval looked for."),
  "gen_ai.retrieval.documents": content("step", "What a retrieval found, as JSON."),
  "error.type": on(
    "run, call, model, step",
    "string",
    "Only with status ERROR: the failure kind of a run or model call, the tool error kind of a call, the wire code of a step; `_OTHER` where the source has none.",
  ),
  "entelix.run_id": on("run, call, model, step, marker", "string", "The run."),
  "entelix.tenant_id": on("run, call, model, step, marker", "string", "The tenant."),
  "entelix.source": on(
    "run",
    "string",
    "The runtime, where it is not entelix: `agent-sdk`, `defect`, `graph`.",
  ),
  "entelix.parent_run_id": on("run", "string", "The parent run, as the event named it."),
  "entelix.parent.missing": on(
    "run",
    "boolean",
    "The parent run was never seen: its span id is derived as if it were a root.",
  ),
  "entelix.parent.inferred": on(
    "run",
    "boolean",
    "Placed under the only tool call that was open in the parent run.",
  ),
  "entelix.run.outcome": on(
    "run",
    "string",
    "`complete`, `failed`, `refused`, `interrupted`, `abandoned`.",
  ),
  "entelix.run.segment": on("run", "int", "From 2: the run went on after a pause or after loss."),
  "entelix.run.start_unseen": on("run", "boolean", "Opened by an event other than `started`."),
  "entelix.run.abandoned_reason": on(
    "run",
    "string",
    "`age`, `limit`, `shutdown`, `end_of_input`, `audit_failed`, `superseded`.",
  ),
  "entelix.run.resumed_from": on("run", "string", "The interrupted run that this one continues."),
  "entelix.run.tool_calls": on(
    "run",
    "int",
    "Own tool calls of the run so far, when there are any.",
  ),
  "entelix.run.tool_errors": on("run", "int", "Own tool calls that failed, when there are any."),
  "entelix.run.approved_calls": on("run", "int", "Tool calls approved, when there are any."),
  "entelix.run.denied_calls": on("run", "int", "Tool calls denied, when there are any."),
  "entelix.run.input_tokens": on(
    "run",
    "int",
    "Input tokens of the run's own model calls so far, cached ones included; not those of child runs. On every end, where any call said it.",
  ),
  "entelix.run.output_tokens": on("run", "int", "The same of output tokens."),
  "entelix.run.cache_read.input_tokens": on(
    "run",
    "int",
    "The same of tokens read from the cache.",
  ),
  "entelix.run.cache_write.input_tokens": on(
    "run",
    "int",
    "The same of tokens written to the cache.",
  ),
  "entelix.run.reasoning.output_tokens": on("run", "int", "The same of tokens spent on reasoning."),
  "entelix.run.cost": on(
    "run",
    "string",
    "US dollars of the run's own model calls so far as a decimal string, as far as their cost is known.",
  ),
  "entelix.run.open": on("marker", "boolean", "The run was still open when this was written."),
  "entelix.run.state": content("run", "The agent's final state, as JSON."),
  "entelix.run.tags": on("run", "string[]", "Labels that the sender gave the run."),
  "entelix.run.metadata.<name>": on(
    "run",
    "string",
    "Further data that the sender gave the run: an attribute for each name.",
  ),
  "entelix.run.turns": on(
    "run",
    "int",
    "Model round-trips of the run, as the source counted them.",
  ),
  "entelix.run.end_reason": on("run", "string", "Why the run ended, in the source's own word."),
  "entelix.turn": on("model", "int", "Number of the turn, as the source counts."),
  "entelix.retry.count": on("model", "int", "Attempts after the first, when there were any."),
  "entelix.retry.attempt": on("event", "int", "Which failed attempt of the call this was, from 1."),
  "entelix.retry.max_attempts": on(
    "event",
    "int",
    "Most retries of a call, where there is a bound.",
  ),
  "entelix.retry.delay_ms": on("event", "int", "Wait before the next attempt in ms."),
  "entelix.model.start_inferred": on(
    "model",
    "boolean",
    "The log does not say when the model was called: the span starts at the row before the reply.",
  ),
  "entelix.thinking.deltas": on("model", "int", "Pieces of streamed thinking, folded."),
  "entelix.progress.count": on("run, call", "int", "Progress messages, folded."),
  "entelix.model.call_id": on("model", "string", "Id of the model call, unique in its run."),
  "entelix.model.outcome": on(
    "model",
    "string",
    "`complete`, `error`, `interrupted`, `unfinished`.",
  ),
  "entelix.step.name": on("step", "string", "Name of the node, retriever or part of a program."),
  "entelix.step.outcome": on(
    "step",
    "string",
    "`complete`, `error`, `interrupted`, `cancelled`, `unfinished`.",
  ),
  "entelix.model.cost": on(
    "model",
    "string",
    "US dollars of the call as a decimal string, where known.",
  ),
  "entelix.tool.version": on("call", "string", "Version of the tool."),
  "entelix.tool.tier": on("call", "string", "`observe` (read-only) or `confirm` (asks first)."),
  "entelix.acp.tool_kind": on(
    "call",
    "string",
    "ACP kind of the tool: `read`, `edit`, `execute` …",
  ),
  "entelix.acp.tool_status": on("call", "string", "Last ACP status of the call."),
  "entelix.policy.decision": on("call", "string", "What the policy said: `allow`, `deny`, `ask`."),
  "entelix.tool.outcome": on(
    "call",
    "string",
    "`complete`, `error`, `interrupted`, `denied`, `cancelled`, `unfinished`.",
  ),
  "entelix.tool.occurrence": on("call", "int", "From 2: the tool-use id came before in this run."),
  "entelix.tool.error_kind": on("call", "string", "Class of the tool error."),
  "entelix.tool.model_text": content("call", "Of a tool error: the text that the model received."),
  "entelix.tool.model_text_unknown": on(
    "call",
    "boolean",
    "Of a tool error: it is not known which text the model received.",
  ),
  "entelix.approval.outcome": on(
    "call, event",
    "string",
    "`approved`, `denied`, `edited` (approved with another input), `answered` (a person gave the result); `cancelled` where nobody answered.",
  ),
  "entelix.approval.by": on(
    "call, event",
    "string",
    "Who let the call pass or refused it: `user`, `policy`.",
  ),
  "entelix.approval.option": on("call, event", "string", "Kind of the option that was chosen."),
  "entelix.approval.wait_ms": on("call, event", "int", "Wait for the approval in ms, where known."),
  "entelix.approval.person": on(
    "call, event",
    "string",
    "The person who decided. Personal data: only with the option `approvalPerson`.",
  ),
  "entelix.approval.reason": content(
    "call",
    "Why the call was approved or denied; the answer of a person in place of the tool.",
  ),
  "entelix.approval.proposed_input": content("call", "The input before a person edited it."),
  "entelix.failure.kind": on("run", "string", "One of the seven failure kinds."),
  "entelix.failure.origin": on(
    "run",
    "string",
    "Where the failure arose: `model`, `tool`, `run`; absent where the sender does not say.",
  ),
  "entelix.failure.tool_name": on("run", "string", "The tool that ended the run."),
  "entelix.failure.tool_error_kind": on("run", "string", "Class of that tool's error."),
  "entelix.error.wire_code": on("run, call, model, step", "string", "Code of the error envelope."),
  "entelix.error.wire_class": on("run, call, model, step", "string", "`client` or `server`."),
  "entelix.error.retry_after_secs": on(
    "run, call, model, step, event",
    "int",
    "Seconds to wait before a retry.",
  ),
  "entelix.error.provider_status": on(
    "run, call, model, step",
    "int",
    "HTTP status of the provider.",
  ),
  "entelix.error.message": on(
    "run, call, model, step, event",
    "string",
    "Operator text where the status is Unset (else it is the status description). Redacted.",
  ),
  "entelix.interruption.kind": on(
    "run",
    "string",
    "`custom`, `approval_pending`, `scheduled_pause`; absent where the source does not say.",
  ),
  "entelix.interruption.tool_use_id": on("run", "string", "The call that waits for approval."),
  "entelix.interruption.phase": on("run", "string", "`before` or `after` the node."),
  "entelix.interruption.node": on("run", "string", "The node of a scheduled pause."),
  "entelix.interruption.payload": content("run", "What the interruption carries, as JSON."),
  "entelix.usage.requests": on("run", "int", "Model requests."),
  "entelix.usage.tool_calls": on("run", "int", "Tool calls."),
  "entelix.usage.input_tokens": on("run", "int", "Child runs: input tokens, parent's included."),
  "entelix.usage.output_tokens": on("run", "int", "Child runs: output tokens, parent's included."),
  "entelix.usage.cache_read.input_tokens": on("run", "int", "Child runs: read from the cache."),
  "entelix.usage.cache_write.input_tokens": on("run", "int", "Child runs: written to the cache."),
  "entelix.usage.cost": on(
    "run",
    "string",
    "Child runs: US dollars, parent's included; absent where not known.",
  ),
  "entelix.usage.cumulative": on(
    "run",
    "boolean",
    "Child runs: the figures contain the parent's, so they must not be summed.",
  ),
  "entelix.agent.usage.cost": on(
    "run",
    "string",
    "Root runs: US dollars as a decimal string; absent where not known.",
  ),
  "entelix.compaction.count": on("run", "int", "Times the context was compacted."),
  "entelix.compaction.tokens_removed": on(
    "run",
    "int",
    "Tokens that compactions removed together.",
  ),
  "entelix.compaction.kind": on("event", "string", "`full`, or `micro`: old tool results cleared."),
  "entelix.compaction.original_count": on("event", "int", "Messages before the compaction."),
  "entelix.compaction.new_count": on("event", "int", "Messages after it."),
  "entelix.compaction.original_tokens": on("event", "int", "Tokens before the compaction."),
  "entelix.compaction.new_tokens": on("event", "int", "Tokens after it."),
  "entelix.compaction.cleared": on("event", "int", "Tool results that were cleared."),
  "entelix.compaction.dropped_chars": on("event", "int", "Characters that were removed."),
  "entelix.compaction.retained_chars": on("event", "int", "Characters that were carried on."),
  "entelix.account.reason": on("event", "string", "Why the provider's account was changed."),
  "entelix.handoff.count": on("run", "int", "Times a supervisor passed control on."),
  "entelix.handoff.from": on("event", "string", "Agent that had control."),
  "entelix.handoff.to": on("event", "string", "Agent that got control."),
  "entelix.memory_recall.count": on("run", "int", "Times a memory tier was asked."),
  "entelix.memory_recall.tier": on("event", "string", "Memory tier that was asked."),
  "entelix.memory_recall.namespace": on("event", "string", "Key of its namespace."),
  "entelix.memory_recall.hits": on("event", "int", "Records it gave."),
  "entelix.warning.count": on("run", "int", "Warnings of the model's codec."),
  "entelix.warning.kind": on("event", "string", "Kind of the warning."),
  "entelix.warning.subject": on("event", "string", "Field, capability or vendor it is about."),
  "entelix.warning.detail": on("event", "string", "What it says."),
  "entelix.rate_limit.count": on("run", "int", "Rate limit reports of the provider."),
  "entelix.rate_limit.requests_remaining": on("event", "int", "Requests left."),
  "entelix.rate_limit.tokens_remaining": on("event", "int", "Tokens left."),
  "entelix.rate_limit.requests_reset_at": on("event", "string", "When requests refill."),
  "entelix.rate_limit.tokens_reset_at": on("event", "string", "When tokens refill."),
  "exception.type": on("event", "string", "Name of the error's class."),
  "exception.message": on("event", "string", "Operator text of the error. Redacted."),
  "exception.stacktrace": on("event", "string", "Stack of the error. Redacted."),
  "entelix.error.count": on("run", "int", "Errors in the log, also those the run recovered from."),
  "entelix.error.class": on("event", "string", "Class of a recorded error."),
  "entelix.breach.axis": on("run", "string", "Axis of the budget that was used up."),
  "entelix.breach.limit": on("run", "string", "Its cap, a decimal text."),
  "entelix.breach.observed": on("run", "string", "What was used, a decimal text."),
  "entelix.checkpoint.id": on("event", "string", "Stored checkpoint."),
  "entelix.checkpoint.thread_id": on("event", "string", "Thread of the checkpoint."),
  "entelix.resumed.checkpoint": on("run, event", "string", "Checkpoint the run was resumed from."),
  "entelix.branch.id": on("event", "string", "Thread id of a branch."),
  "entelix.branch.parent_event": on("event", "int", "Index, from 0, of the event it left at."),
  "entelix.sub_agent.thread_id": on("event", "string", "Thread of a sub-agent's own log."),
  "entelix.graph.kind": on("event", "string", "Kind of a row that is not known here."),
  "entelix.audit.ordinal": on("run", "int", "Ordinal of the run's last row in the audit log."),
  "entelix.audit.hash": on("run", "string", "Hash of that row: an anchor outside the log."),
  "entelix.audit.failed": on("run", "boolean", "At least one audit row could not be stored."),
  "entelix.link.kind": on(
    "link",
    "string",
    "`ambient`, `late_parent`, `parent_of_other_tenant`, `previous_segment`, `resumed_from`, `after_interrupted`.",
  ),
} as const satisfies Record<string, AttributeDoc>;

/** A row of the table. */
export interface AttributeDoc {
  /** Where it is set. */
  readonly on: string;
  readonly type: "string" | "string[]" | "int" | "double" | "boolean";
  /** Set only where content capture is on. */
  readonly content: boolean;
  readonly brief: string;
}

/** Stands for any number of names. */
type Template = "entelix.run.metadata.<name>";

/** The name of an attribute of ours. */
export type AttributeName =
  | Exclude<keyof typeof ATTRIBUTES, Template>
  | `entelix.run.metadata.${string}`;

/** A set of attributes of ours: a name outside the table does not compile. */
export type KnownAttributes = { [N in AttributeName]?: AttributeValue | undefined };

/** Span events of runtimes other than entelix, which tell of points in a run's life. */
export const SPAN_EVENTS = {
  "entelix.approval_asked": "A tool call asked for leave.",
  "entelix.retry": "An attempt of a model call failed, and another follows.",
  "entelix.user_input": "The user spoke while the run was on.",
  "entelix.context_compacted": "The context was compacted.",
  "entelix.account_rotation": "The provider's account was changed.",
  "entelix.account_pool_exhausted": "No account of the provider was left.",
  "entelix.handoff": "A supervisor passed control on.",
  "entelix.sub_agent": "A sub-agent with a log of its own was invoked.",
  "entelix.memory_recall": "A memory tier was asked.",
  "entelix.checkpoint": "A checkpoint was stored.",
  "entelix.resumed": "The run was resumed from a checkpoint.",
  "entelix.branch": "A branch left the thread.",
  "entelix.rate_limit": "The provider said what was left.",
  "entelix.warning": "The model's codec warned.",
  "entelix.error": "An error was recorded.",
  "entelix.graph.erased": "A row whose payload was erased.",
  "entelix.graph.unknown": "A row of a kind that is not known here.",
} as const satisfies Record<string, string>;

/** Names of spans and span events that carry no `gen_ai` operation. */
export const MARKER_SPAN = "entelix.run.open";
export const APPROVAL_EVENT = "entelix.approval";
export const EXCEPTION_EVENT = "exception";

function on<T extends AttributeDoc["type"]>(where: string, type: T, brief: string) {
  return { on: where, type, content: false, brief } as const;
}

function content(where: string, brief: string) {
  return { on: where, type: "string", content: true, brief } as const;
}
