import {
  failureKindFromEnvelope,
  toolErrorKindFromEnvelope,
  UNCLASSIFIED_ENVELOPE,
} from "../../errors/agent-error-tables.ts";
import type { AgentEvent, Failed, ToolError } from "../../events/agent-event.ts";
import type { Instant } from "../../events/instant.ts";
import type { Lifecycle } from "../../lifecycle/lifecycle.ts";
import type { CallProblem, RunEnd } from "../../lifecycle/signals.ts";
import { failureKindIn, millisecondsIn, textIn, toolErrorKindIn } from "./loose-values.ts";
import { modelAnswers, modelFails, modelStarts } from "./model-signals.ts";

/**
 * How entelix's events read as signals of the lifecycle.
 *
 * Programs without types leave fields out, or put something else there: ids and names are text from
 * here on, and no event is lost that need not be.
 *
 * @returns false when the event changed nothing (a repeat, or no event).
 */
export function signal<H>(lifecycle: Lifecycle<H>, event: AgentEvent, at: Instant): boolean {
  switch (event.type) {
    case "started":
      return lifecycle.startRun(
        event.tenant_id,
        event.run_id,
        at,
        textIn(event.agent),
        textIn(event.parent_run_id),
      );
    case "tool_start":
      return lifecycle.startCall(
        event.tenant_id,
        event.run_id,
        at,
        textIn(event.tool_use_id) ?? "",
        textIn(event.tool) ?? "",
        textIn(event.tool_version),
        event.input,
      );
    case "tool_complete":
      return lifecycle.endCall(
        event.tenant_id,
        event.run_id,
        at,
        textIn(event.tool_use_id) ?? "",
        textIn(event.tool) ?? "",
        textIn(event.tool_version),
        millisecondsIn(event.duration_ms),
        undefined,
        event.output,
      );
    case "tool_error":
      return lifecycle.endCall(
        event.tenant_id,
        event.run_id,
        at,
        textIn(event.tool_use_id) ?? "",
        textIn(event.tool) ?? "",
        textIn(event.tool_version),
        millisecondsIn(event.duration_ms),
        problemOf(event),
        undefined,
      );
    case "complete":
      return lifecycle.endRun(event.tenant_id, event.run_id, at, {
        outcome: "complete",
        usage: event.usage ?? undefined,
        content: event.state,
      });
    case "failed":
      return lifecycle.endRun(event.tenant_id, event.run_id, at, failureOf(event));
    case "interrupted":
      return lifecycle.endRun(event.tenant_id, event.run_id, at, {
        outcome: "interrupted",
        kind: event.kind ?? undefined,
        content: event.payload,
      });
    case "tool_call_approved":
      return lifecycle.approveCall(
        event.tenant_id,
        event.run_id,
        at,
        textIn(event.tool_use_id) ?? "",
        textIn(event.tool) ?? "",
        undefined,
      );
    case "tool_call_denied":
      return lifecycle.denyCall(
        event.tenant_id,
        event.run_id,
        at,
        textIn(event.tool_use_id) ?? "",
        textIn(event.tool) ?? "",
        event.reason,
      );
    case "model_start":
      return modelStarts(lifecycle, event, at);
    case "model_complete":
      return modelAnswers(lifecycle, event, at);
    case "model_error":
      return modelFails(lifecycle, event, at);
    default:
      return passThrough(lifecycle, event, at);
  }
}

/** A type that a newer agent added: counted, and a sign of life of its run. */
function passThrough<H>(
  lifecycle: Lifecycle<H>,
  event: { readonly tenant_id: string; readonly run_id: string },
  at: Instant,
): boolean {
  return lifecycle.noteActivity(event.tenant_id, event.run_id, at);
}

/** A tool that raises an interrupt is reported as an error, but it is a pause. */
function problemOf(event: ToolError): CallProblem {
  const envelope = event.envelope ?? UNCLASSIFIED_ENVELOPE;
  if (envelope.wire_code === "interrupted") {
    return { outcome: "interrupted", message: event.error };
  }
  return {
    outcome: "error",
    kind: toolErrorKindIn(event.kind) ?? toolErrorKindFromEnvelope(envelope),
    message: event.error,
    envelope,
  };
}

/** Agents before 0.6 report an interrupt as a failure, without saying of which kind it was. */
function failureOf(event: Failed): RunEnd {
  const envelope = event.envelope ?? UNCLASSIFIED_ENVELOPE;
  if (envelope.wire_code === "interrupted") {
    return { outcome: "interrupted", message: event.error };
  }
  return {
    outcome: "failed",
    kind: failureKindIn(event.kind) ?? failureKindFromEnvelope(envelope),
    message: event.error,
    envelope,
  };
}
