import type { Decision } from "../core/call-reports.ts";
import { fieldsOf, textOf } from "../core/narrow.ts";
import type { PausedRun } from "./paused-runs.ts";

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
