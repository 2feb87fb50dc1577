import type { AgentError } from "./agent-error.ts";
import {
  envelopeOfDetail,
  failureKindOfDetail,
  llmTextOfTool,
  toolErrorKindOfDetail,
  UNCLASSIFIED_ENVELOPE,
} from "./agent-error-tables.ts";
import { asAgentError, knownError } from "./as-agent-error.ts";
import { warnUnclassified } from "./classify-warning.ts";
import type { ErrorEnvelope, FailureKind, ToolErrorKind } from "./error-kinds.ts";
import { type FailureOrigin, type FailureSource, schemaIn } from "./failure-source.ts";
import type { RenderedForLlm } from "./llm-text.ts";
import { renderDetail } from "./llm-text.ts";
import { isOfModelClient } from "./model-client.ts";

/** Name of a tool that the caller did not name. */
const UNNAMED_TOOL = "unknown";

/**
 * Classifies why a run failed. Accepts any thrown value and never throws.
 *
 * Without `source`, it classifies like entelix's `FailureKind::from_error` of entelix-agents: every error of a
 * connection or with an HTTP status is `model_dispatch`. With `source`, the kind depends on where the error arose: an
 * error from a tool is `tool_error_terminal` with that tool, and only an error from a model call, or of a model
 * client's class, is `model_dispatch`. That includes unknown errors from a model call. Cancellations, deadlines and
 * budgets keep their kinds.
 *
 * An unknown value is `unclassified` and causes a warning (see `setUnclassifiedWarning`). A pause is
 * not a failure and is `unclassified`, too.
 *
 * @param source where the error arose. Default: not known.
 *
 * @example
 * classifyFailure(AgentError.http(503, "vendor down")); // { type: "model_dispatch" }
 * classifyFailure(error, { origin: "tool", tool: "db" }); // { type: "tool_error_terminal", kind: "transient", tool_name: "db" }
 */
export function classifyFailure(error: unknown, source?: FailureSource): FailureKind {
  const known = asAgentError(error);
  // Untyped programs may send `null`.
  const kind = kindOf(error, known, source ?? undefined);
  if (kind.type === "unclassified") warnUnclassified(error);
  return kind;
}

function kindOf(
  error: unknown,
  known: AgentError | undefined,
  source: FailureSource | undefined,
): FailureKind {
  const kind: FailureKind =
    known === undefined ? { type: "unclassified" } : failureKindOfDetail(known.detail);
  if (source === undefined || kind.type === "tool_error_terminal") return kind;
  if (isOfRun(error, known, source)) return kind;
  switch (source.origin) {
    case "model":
      return known === undefined ? { type: "model_dispatch" } : kind;
    case "tool": {
      const tool_name = source.tool ?? UNNAMED_TOOL;
      return { type: "tool_error_terminal", kind: toolKindOf(error, known, source), tool_name };
    }
    case "run":
      return kind.type === "model_dispatch" && !isModels(error, known)
        ? { type: "internal" }
        : kind;
    default:
      return source satisfies never;
  }
}

/** Whether it ends a run regardless of where it arose: a pause, a cancellation, a deadline or a budget. */
function isOfRun(error: unknown, known: AgentError | undefined, source: FailureSource): boolean {
  switch (known?.detail.type) {
    case "cancelled":
    case "interrupted":
    case "usage_limit_exceeded":
      return true;
    case "deadline_exceeded":
      return !isToolTimeout(error, known, source);
    default:
      return false;
  }
}

/** A tool's own time limit, such as `AbortSignal.timeout`, which is not an `AgentError`. */
function isToolTimeout(
  error: unknown,
  known: AgentError | undefined,
  source: FailureSource | undefined,
): boolean {
  if (source?.origin !== "tool" || known?.detail.type !== "deadline_exceeded") return false;
  return known !== error && known.cause === error;
}

/** Whether an error without a call is a model's, by its class or because it was made an AgentError explicitly. */
function isModels(error: unknown, known: AgentError | undefined): boolean {
  const isExplicit = known !== undefined && (known === error || known.cause !== error);
  return isExplicit || isOfModelClient(error);
}

/**
 * Classifies why a tool call failed. Accepts any thrown value and never throws.
 *
 * In Rust: `ToolErrorKind::classify` of entelix-core. An unknown value is `internal` and, unless it
 * is known to come from a tool, causes a warning (see `setUnclassifiedWarning`).
 *
 * @param source where the error arose. A `TimeoutError` of a tool is `transient`, because it is the tool's own time
 *   limit and not the run's. Default: unknown.
 *
 * @example
 * classifyToolError(AgentError.config("no index")); // "internal"
 */
export function classifyToolError(error: unknown, source?: FailureSource): ToolErrorKind {
  return toolKindOf(error, asAgentError(error), source);
}

function toolKindOf(
  error: unknown,
  known: AgentError | undefined,
  source: FailureSource | undefined,
): ToolErrorKind {
  if (isToolTimeout(error, known, source)) return "transient";
  if (known !== undefined) return toolErrorKindOfDetail(known.detail);
  // A tool's error needs no class, because the tool is known to be at fault.
  if (source?.origin !== "tool") warnUnclassified(error);
  return "internal";
}

/**
 * The error envelope of any thrown value. Never throws.
 *
 * An unknown value has the wire code `unclassified` and the class `server`.
 *
 * @param source where the error arose, for the envelope's `origin`. Default: unknown. Then the envelope is
 *   entelix's.
 *
 * @example
 * envelopeOf(error, { origin: "model" }); // { wire_code: "rate_limited", …, origin: "model" }
 */
export function envelopeOf(error: unknown, source?: FailureSource): ErrorEnvelope {
  const known = asAgentError(error);
  if (source === undefined || source === null) {
    return known === undefined ? UNCLASSIFIED_ENVELOPE : envelopeOfDetail(known.detail);
  }
  const origin = originOf(error, known, source);
  if (known === undefined) return { ...UNCLASSIFIED_ENVELOPE, origin };
  if (isToolTimeout(error, known, source)) {
    return { wire_code: "transport_failure", wire_class: "server", origin };
  }
  const envelope = { ...envelopeOfDetail(known.detail), origin };
  const { detail } = known;
  // A limit that was read from a text may not be a number.
  return detail.type === "usage_limit_exceeded" && !Number.isNaN(detail.breach.limit)
    ? { ...envelope, breach: detail.breach }
    : envelope;
}

/** The envelope of a tool call's error. A cancelled call is marked, because the tool did not fail. */
export function toolEnvelopeOf(error: unknown, source: FailureSource): ErrorEnvelope {
  const envelope = envelopeOf(error, source);
  const isCancelled = CANCELLED_CODES.has(envelope.wire_code);
  return isCancelled ? { ...envelope, cancelled: true } : envelope;
}

/** A tool's own time limit has another code. */
const CANCELLED_CODES = new Set(["cancelled", "deadline_exceeded"]);

function originOf(
  error: unknown,
  known: AgentError | undefined,
  source: FailureSource,
): FailureOrigin {
  if (isOfRun(error, known, source)) return "run";
  const kind = known === undefined ? undefined : failureKindOfDetail(known.detail).type;
  if (kind === "tool_error_terminal") return "tool";
  if (source.origin === "run" && kind === "model_dispatch" && isModels(error, known))
    return "model";
  return source.origin;
}

/**
 * The text of an error that a model may see: a short sentence for the kind of error, without
 * vendor, cause or values. Accepts any thrown value and never throws.
 *
 * In Rust: `for_llm` of entelix-core. The text of an unknown value is "unexpected error". The text of a schema
 * library's error has only known codes, types and formats. A step of its path is `*` unless it is an index below
 * 1,000 or a name in the tool's own `schema`.
 *
 * @param source where the error arose. For a service that a tool called, the text says so, with the HTTP status.
 *   Default: unknown. Then the text is entelix's.
 *
 * @example
 * renderForLlm(AgentError.http(503, "vendor down")); // "upstream model error"
 * renderForLlm(AgentError.http(503, "db down"), { origin: "tool" }); // "tool call failed (HTTP 503)"
 * renderForLlm(zodError, { origin: "tool", schema }); // "invalid input: amount: expected number"
 */
export function renderForLlm(error: unknown, source?: FailureSource): RenderedForLlm {
  const known = knownError(error, schemaIn(source));
  const isTools = source?.origin === "tool";
  return renderDetail(known?.detail, isTools ? llmTextOfTool : undefined);
}
