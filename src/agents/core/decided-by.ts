import { askedText } from "./common-options.ts";

/** A decision about a tool call, for the application to say who made it. */
export interface ToolDecision {
  readonly outcome: "approved" | "denied" | "edited" | "answered";
  readonly tool: string;
  readonly toolUseId: string;
  /** Content: why it was denied, or the answer in place of the tool. */
  readonly reason: string;
}

/**
 * Names the person who decided about a tool call: a name or ID, which is personal data. `undefined`:
 * not known. What it throws goes to `onError`.
 *
 * @param metadata of the invocation, or of the trace.
 */
export type DecidedBy = (
  decision: ToolDecision,
  metadata: Readonly<Record<string, unknown>>,
) => string | undefined;

/** The person, as far as the application's hook says. Never throws. */
export function personOf(
  hook: DecidedBy | undefined,
  decision: ToolDecision,
  metadata: Readonly<Record<string, unknown>>,
  onError: (error: unknown) => void,
): string | undefined {
  return hook === undefined ? undefined : askedText(() => hook(decision, metadata), onError);
}
