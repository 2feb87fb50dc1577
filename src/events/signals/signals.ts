import type { AgentEvent, Failed, ToolError } from "../agent-event.ts";
import {
  failureKindFromEnvelope,
  toolErrorKindFromEnvelope,
  UNCLASSIFIED_ENVELOPE,
} from "../errors/agent-error-tables.ts";
import type { ToolErrorKind } from "../errors/error-kinds.ts";
import type { EventDetails } from "../event-details.ts";
import type { Instant } from "../instant.ts";
import type { AttributeName } from "../semconv/semconv.ts";
import type { StepError, StepEvent } from "../step-event.ts";
import { MOST_NAME } from "../value-limits.ts";
import { decisionIn, mcpAttributes, usageOf } from "./details.ts";
import { answerOf, contextOf, modelErrorOf, operationIn } from "./model-ends.ts";
import type { CallResult, RunEnd, Signal, StepEnd } from "./signal.ts";
import {
  type OwnAttributes,
  requestAttributes,
  type SignalAttributes,
} from "./signal-attributes.ts";
import { failureKindIn, nameIn, textIn } from "./untyped.ts";

/**
 * The signal of an event of entelix.
 *
 * Untyped programs may leave fields out or send other values. Here IDs and names become text, so that as few events
 * as possible are lost.
 *
 * @param details the envelope's details.
 */
export function signalOf(event: AgentEvent, at: Instant, details?: EventDetails): Signal {
  switch (event.type) {
    case "started":
      return {
        signal: "run_opens",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        agent: textIn(event.agent),
        parentRunId: textIn(event.parent_run_id),
        inStepId: textIn(details?.step_id),
        originInEnvelope: true,
        operation: details?.operation === "invoke_workflow" ? details.operation : undefined,
        asked: details?.input ?? undefined,
        attributes: withName(mcpAttributes(details), "entelix.handoff.from", details?.handoff_from),
      };
    case "tool_start":
      return {
        signal: "call_opens",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        callId: textIn(event.tool_use_id) ?? "",
        callKey: nameIn(details?.call_key),
        name: textIn(event.tool) ?? "",
        version: textIn(event.tool_version),
        content: event.input,
        inStepId: textIn(details?.step_id),
        inCallId: nameIn(details?.tool_use_id),
        attributes: withName(
          mcpAttributes(details),
          "gen_ai.tool.description",
          details?.tool_description,
        ),
      };
    case "tool_complete":
      return {
        signal: "call_closes",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        callId: textIn(event.tool_use_id) ?? "",
        callKey: nameIn(details?.call_key),
        name: textIn(event.tool) ?? "",
        version: textIn(event.tool_version),
        durationMs: millisecondsIn(event.duration_ms),
        end: { outcome: "complete", content: event.output, attributes: mcpAttributes(details) },
        inStepId: textIn(details?.step_id),
        inCallId: nameIn(details?.tool_use_id),
      };
    case "tool_error":
      return {
        signal: "call_closes",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        callId: textIn(event.tool_use_id) ?? "",
        callKey: nameIn(details?.call_key),
        name: textIn(event.tool) ?? "",
        version: textIn(event.tool_version),
        durationMs: millisecondsIn(event.duration_ms),
        end: { ...problemOf(event, details), attributes: mcpAttributes(details) },
        inStepId: textIn(details?.step_id),
        inCallId: nameIn(details?.tool_use_id),
      };
    case "complete":
      return {
        signal: "run_closes",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        end: {
          outcome: "complete",
          usage: usageOf(event.usage, details),
          ownUsage: details?.own_usage,
          content: event.state,
          asked: details?.input ?? undefined,
          answer: details?.output ?? undefined,
          attributes: mcpAttributes(details),
        },
      };
    case "failed":
      return {
        signal: "run_closes",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        end: {
          ...failureOf(event, details),
          ownUsage: details?.own_usage,
          attributes: mcpAttributes(details),
        },
      };
    case "interrupted":
      return {
        signal: "run_closes",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        end: {
          outcome: "interrupted",
          kind: event.kind ?? undefined,
          usage: usageOf(details?.usage, details),
          ownUsage: details?.own_usage,
          content: event.payload,
          asked: details?.input ?? undefined,
          answer: details?.output ?? undefined,
        },
      };
    case "tool_call_asked":
      return {
        signal: "call_asked",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        callId: textIn(event.tool_use_id) ?? "",
        callKey: nameIn(details?.call_key),
        name: textIn(event.tool) ?? "",
      };
    case "tool_call_approved":
      return {
        signal: "call_approved",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        callId: textIn(event.tool_use_id) ?? "",
        callKey: nameIn(details?.call_key),
        name: textIn(event.tool) ?? "",
        beforeStart: true,
        decision: decisionIn(details, "approved"),
      };
    case "tool_call_denied":
      return {
        signal: "call_denied",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        callId: textIn(event.tool_use_id) ?? "",
        callKey: nameIn(details?.call_key),
        name: textIn(event.tool) ?? "",
        content: event.reason,
        beforeStart: true,
        inStepId: textIn(details?.step_id),
        decision: decisionIn(details, "denied"),
      };
    case "model_start":
      return {
        signal: "model_opens",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        modelCallId: textIn(event.model_call_id),
        model: nameIn(event.model),
        operation: operationIn(event),
        content: event.input ?? undefined,
        inStepId: textIn(details?.step_id),
        inCallId: nameIn(details?.tool_use_id),
        context: contextOf(event),
        attributes: requestAttributes(event),
      };
    case "model_complete":
    case "model_error":
      return {
        signal: "model_closes",
        tenantId: event.tenant_id,
        runId: event.run_id,
        at,
        modelCallId: textIn(event.model_call_id),
        durationMs: millisecondsIn(event.duration_ms),
        end:
          event.type === "model_complete" ? answerOf(event, details) : modelErrorOf(event, details),
        inStepId: textIn(details?.step_id),
        inCallId: nameIn(details?.tool_use_id),
      };
    case "step_start":
    case "step_complete":
    case "step_error":
      return stepSignalOf(event, at, details);
    default:
      return unknownType(event, at);
  }
}

/** A step without an ID cannot be distinguished from others. It only counts as activity of its run. */
function stepSignalOf(event: StepEvent, at: Instant, details: EventDetails | undefined): Signal {
  const { run_id: runId, tenant_id: tenantId } = event;
  const stepId = nameIn(event.step_id);
  if (stepId === undefined) return { signal: "activity", tenantId, runId, at };
  const name = textIn(event.step) ?? "";
  const inStepId = nameIn(details?.step_id);
  const inCallId = nameIn(details?.tool_use_id);
  const of = { tenantId, runId, at, stepId, name, inStepId, inCallId };
  switch (event.type) {
    case "step_start": {
      const kind = event.kind === "retrieval" ? "retrieval" : undefined;
      return { signal: "step_opens", ...of, kind, content: event.input };
    }
    case "step_complete": {
      const attributes = mcpAttributes(details);
      const end = { outcome: "complete", content: event.output, attributes } as const;
      return { signal: "step_closes", ...of, durationMs: millisecondsIn(event.duration_ms), end };
    }
    default: {
      const end = stepProblemOf(event, details);
      return { signal: "step_closes", ...of, durationMs: millisecondsIn(event.duration_ms), end };
    }
  }
}

/** A type that a newer agent added. It is counted, and counts as activity of its run. */
function unknownType(
  event: { readonly tenant_id: string; readonly run_id: string },
  at: Instant,
): Signal {
  const { run_id: runId, tenant_id: tenantId } = event;
  return { signal: "activity", tenantId, runId, at, unknownType: true };
}

/** A tool that raises an interrupt is reported as an error, but it pauses the run. */
function problemOf(event: ToolError, details: EventDetails | undefined): CallResult {
  const envelope = event.envelope ?? UNCLASSIFIED_ENVELOPE;
  if (envelope.wire_code === "interrupted") {
    return { outcome: "interrupted", message: event.error };
  }
  if (envelope.cancelled === true) {
    return { outcome: "cancelled", message: event.error, envelope };
  }
  return {
    outcome: "error",
    kind: toolErrorKindIn(event.kind) ?? toolErrorKindFromEnvelope(envelope),
    message: event.error,
    envelope,
    exception: details?.exception,
    modelText: details?.model_text === "unknown" ? null : textIn(event.error_for_llm),
  };
}

function stepProblemOf(event: StepError, details: EventDetails | undefined): StepEnd {
  const envelope = event.envelope ?? UNCLASSIFIED_ENVELOPE;
  const message = textIn(event.error) ?? "";
  const attributes = mcpAttributes(details);
  if (envelope.wire_code === "interrupted") return { outcome: "interrupted", message, attributes };
  if (envelope.cancelled === true) {
    return { outcome: "cancelled", message, envelope, attributes };
  }
  return { outcome: "error", message, envelope, exception: details?.exception, attributes };
}

/** Agents before 0.6 report an interrupt as a failure, without its kind. */
function failureOf(event: Failed, details: EventDetails | undefined): RunEnd {
  const envelope = event.envelope ?? UNCLASSIFIED_ENVELOPE;
  const asked = details?.input ?? undefined;
  const usage = usageOf(details?.usage, details);
  if (envelope.wire_code === "interrupted") {
    return { outcome: "interrupted", message: event.error, usage, asked };
  }
  return {
    outcome: "failed",
    kind: failureKindIn(event.kind) ?? failureKindFromEnvelope(envelope),
    message: event.error,
    envelope,
    exception: details?.exception,
    usage,
    asked,
  };
}

/** Attributes with one more, if its value is a text. */
function withName(
  attributes: SignalAttributes | undefined,
  attribute: AttributeName,
  given: unknown,
): SignalAttributes | undefined {
  const name = nameIn(given);
  if (name === undefined) return attributes;
  const all: OwnAttributes = { ...attributes };
  all[attribute] = name.slice(0, MOST_NAME);
  return all;
}

/** The same for a tool error kind. */
function toolErrorKindIn(kind: ToolErrorKind | null | undefined): ToolErrorKind | undefined {
  return textIn(kind) ? (kind ?? undefined) : undefined;
}

/** A duration in ms. 0 if there is none. */
function millisecondsIn(value: unknown): number {
  if (typeof value === "number") return value > 0 ? value : 0;
  return typeof value === "bigint" ? Number(value) : 0;
}
