import { type DecidedBy, personOf } from "../decided-by.ts";
import { type Fields, fieldsOf, textOf } from "../narrow.ts";
import type { RunWriter } from "../run-writer.ts";
import type { PausedRun } from "./paused-runs.ts";

/** A decision about a tool call that waited. */
export interface Decision {
  readonly approved: boolean;
  readonly tool: string;
  readonly toolUseId: string;
  /** Content. */
  readonly reason: string;
}

/** What the application needs to name who decided. */
export interface Deciding {
  readonly decidedBy: DecidedBy | undefined;
  readonly requestContext: Fields;
  readonly onError: (error: unknown) => void;
}

/**
 * The decision that a resumed run begins with, if a tool call waited for one. A tool that paused by itself
 * may ask the same question; its code reads the answer.
 */
export function decisionIn(input: unknown, paused: PausedRun | undefined): Decision | undefined {
  if (paused?.isApproval === false) return undefined;
  const given = fieldsOf(input);
  const tool = textOf(given?.toolName);
  const toolUseId = textOf(given?.toolCallId);
  if (tool === undefined || toolUseId === undefined) return undefined;
  if (typeof given?.approved !== "boolean") return undefined;
  return { approved: given.approved, tool, toolUseId, reason: textOf(given.reason) ?? "" };
}

/** Sends the event of a decision. */
export function sendDecision(
  writer: RunWriter,
  { approved, ...call }: Decision,
  paused: PausedRun | undefined,
  { decidedBy, onError, requestContext }: Deciding,
): void {
  const outcome = approved ? "approved" : "denied";
  const person = personOf(decidedBy, { outcome, ...call }, requestContext, onError);
  const details = {
    by: "user" as const,
    ...(person === undefined ? {} : { person }),
    ...(paused === undefined ? {} : { wait_ms: Math.max(0, Date.now() - paused.at) }),
  };
  const { reason } = call;
  if (!approved) writer.toolDenied(call, reason, details);
  else writer.toolApproved(call, reason === "" ? details : { ...details, reason });
}
