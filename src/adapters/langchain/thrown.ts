import type { AgentErrorDetail } from "../../errors/agent-error-detail.ts";
import { asAgentError } from "../../errors/as-agent-error.ts";
import { classifyFailure, classifyToolError, envelopeOf } from "../../errors/classify.ts";
import type { ErrorEnvelope, FailureKind } from "../../errors/error-kinds.ts";
import { listProperty, property, textProperty } from "../../errors/thrown.ts";
import { errorText, explained, isBareAbort, unwrapped } from "./own-errors.ts";
import type { RunState } from "./run-state.ts";

/** LangGraph's signals travel as errors: a pause, or control handed to the graph above. */
export type Signal = "pause" | "handover";

const MOST_INTERRUPTS = 1000;

/** Which signal a thrown value is, by LangGraph's public predicate; `undefined` for an error. */
export function signalOf(thrown: unknown): Signal | undefined {
  if (property(thrown, "is_bubble_up") !== true) return undefined;
  return textProperty(thrown, "name") === "ParentCommand" ? "handover" : "pause";
}

/** What the pause asks: LangGraph's interrupts, or why it was drained. */
export function interruptsOf(thrown: unknown): readonly unknown[] {
  const reason = textProperty(thrown, "reason");
  return reason === undefined
    ? listProperty(thrown, "interrupts", MOST_INTERRUPTS)
    : [{ value: reason }];
}

/** Tells of a failed run or model call what it was. */
export interface Failure {
  readonly error: string;
  readonly envelope: ErrorEnvelope;
  readonly kind: FailureKind;
}

export function failureOf(thrown: unknown): Failure {
  const known = explained(thrown);
  return { error: errorText(thrown), envelope: envelopeOf(known), kind: classifyFailure(known) };
}

/** Why a run failed: by its error, and what was thrown below it. */
export function runFailureOf(run: RunState, thrown: unknown): Failure {
  // LangGraph gives up with an error of its own, while the node had the signal's reason.
  if (isBareAbort(thrown) && isStop(typeOf(run.lastError))) return failureOf(run.lastError);
  const failure = failureOf(thrown);
  const { failedTool, failedToolError } = run;
  if (failedTool === undefined || isStop(failure.kind.type)) return failure;
  if (unwrapped(failedToolError) !== unwrapped(thrown)) return failure;
  const kind = classifyToolError(explained(thrown));
  return { ...failure, kind: { type: "tool_error_terminal", kind, tool_name: failedTool } };
}

/** Whether somebody had it stop, as far as the error tells. */
export function isCalledOff(thrown: unknown): boolean {
  return typeOf(thrown) === "cancelled";
}

/** What is not asked for its kind: the classifier would warn of a pause, and of what nothing matches. */
function typeOf(thrown: unknown): AgentErrorDetail["type"] | undefined {
  return asAgentError(explained(thrown))?.detail.type;
}

function isStop(type: FailureKind["type"] | AgentErrorDetail["type"] | undefined): boolean {
  return type === "cancelled" || type === "deadline_exceeded";
}
