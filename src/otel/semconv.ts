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
  "gen_ai.operation.name": on("run, call", "string", "`invoke_agent` or `execute_tool`."),
  "gen_ai.agent.name": on("run, call, marker", "string", "Name of the agent."),
  "gen_ai.conversation.id": on("run", "string", "Thread id, only where the source gave one."),
  "gen_ai.tool.name": on("call, event", "string", "Name of the tool."),
  "gen_ai.tool.call.id": on("call, event", "string", "Tool-use id; not unique, may be empty."),
  "gen_ai.tool.type": on("call", "string", "Always `function`."),
  "gen_ai.tool.call.arguments": content("call", "Input of the call, as JSON."),
  "gen_ai.tool.call.result": content("call", "Output of the call, as JSON, when it succeeded."),
  "gen_ai.usage.input_tokens": on("run", "int", "Root runs only: input tokens of the whole tree."),
  "gen_ai.usage.output_tokens": on(
    "run",
    "int",
    "Root runs only: output tokens of the whole tree.",
  ),
  "error.type": on(
    "run, call",
    "string",
    "Only with status ERROR: the failure kind of a run, the tool error kind of a call.",
  ),
  "entelix.run_id": on("run, call, marker", "string", "The run."),
  "entelix.tenant_id": on("run, call, marker", "string", "The tenant."),
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
  "entelix.run.outcome": on("run", "string", "`complete`, `failed`, `interrupted`, `abandoned`."),
  "entelix.run.segment": on("run", "int", "From 2: the run went on after a pause or after loss."),
  "entelix.run.start_unseen": on("run", "boolean", "Opened by an event other than `started`."),
  "entelix.run.abandoned_reason": on(
    "run",
    "string",
    "`age`, `limit`, `shutdown`, `end_of_input`, `audit_failed`.",
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
  "entelix.run.open": on("marker", "boolean", "The run was still open when this was written."),
  "entelix.run.state": content("run", "The agent's final state, as JSON."),
  "entelix.tool.version": on("call", "string", "Version of the tool."),
  "entelix.tool.outcome": on(
    "call",
    "string",
    "`complete`, `error`, `interrupted`, `denied`, `unfinished`.",
  ),
  "entelix.tool.occurrence": on("call", "int", "From 2: the tool-use id came before in this run."),
  "entelix.tool.error_kind": on("call", "string", "Class of the tool error."),
  "entelix.approval.outcome": on("call, event", "string", "`approved` or `denied`."),
  "entelix.approval.wait_ms": on("call", "int", "Wait for the approval in ms, where known."),
  "entelix.approval.reason": content("call", "Why the call was denied."),
  "entelix.failure.kind": on("run", "string", "One of the seven failure kinds."),
  "entelix.failure.tool_name": on("run", "string", "The tool that ended the run."),
  "entelix.failure.tool_error_kind": on("run", "string", "Class of that tool's error."),
  "entelix.error.wire_code": on("run, call", "string", "Code of the error envelope."),
  "entelix.error.wire_class": on("run, call", "string", "`client` or `server`."),
  "entelix.error.retry_after_secs": on("run, call", "int", "Seconds to wait before a retry."),
  "entelix.error.provider_status": on("run, call", "int", "HTTP status of the provider."),
  "entelix.error.message": on(
    "run, call",
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
  "entelix.usage.cost": on("run", "string", "Child runs: US dollars, parent's included."),
  "entelix.usage.cumulative": on(
    "run",
    "boolean",
    "Child runs: the figures contain the parent's, so they must not be summed.",
  ),
  "entelix.agent.usage.cost": on("run", "string", "Root runs: US dollars as a decimal string."),
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
  readonly type: "string" | "int" | "boolean";
  /** Set only where content capture is on. */
  readonly content: boolean;
  readonly brief: string;
}

/** The name of an attribute of ours. */
export type AttributeName = keyof typeof ATTRIBUTES;

/** A set of attributes of ours: a name outside the table does not compile. */
export type KnownAttributes = { [N in AttributeName]?: AttributeValue | undefined };

/** Names of spans and span events that carry no `gen_ai` operation. */
export const MARKER_SPAN = "entelix.run.open";
export const APPROVAL_EVENT = "entelix.approval";

function on<T extends AttributeDoc["type"]>(where: string, type: T, brief: string) {
  return { on: where, type, content: false, brief } as const;
}

function content(where: string, brief: string) {
  return { on: where, type: "string", content: true, brief } as const;
}
