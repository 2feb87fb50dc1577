import type { ContentNeed } from "../../events/door.ts";
import { costOf, type Price } from "../runtime/door.ts";
import type { ModelUse, ResultOptions, RunWriter, ToolCall } from "../writer/door.ts";
import { type DecidedBy, personOf } from "./hooks.ts";
import type { Fields } from "./narrow.ts";
import type { UsageTotals } from "./usage-totals.ts";

/** Options for reporting tool calls. */
export interface ToolCallOptions extends ResultOptions {
  readonly contentNeed: ContentNeed;
}

/** Options for reporting model calls. */
export interface ModelCallOptions {
  readonly contentNeed: ContentNeed;
  readonly price: Price | undefined;
  readonly onError: (error: unknown) => void;
}

/**
 * Adds what a model call used to the totals of its run. The call may have failed.
 *
 * @returns its cost. `undefined`: not known.
 */
export function countUse(
  {
    model,
    provider,
  }: { readonly model: string | undefined; readonly provider: string | undefined },
  use: Omit<ModelUse, "cost">,
  totals: UsageTotals,
  { onError, price }: Pick<ModelCallOptions, "onError" | "price">,
): string | undefined {
  const { responseModel, usage } = use;
  if (usage === undefined) return undefined;
  const by = use.provider ?? provider;
  const cost = costOf(price, { provider: by, model, responseModel, usage }, onError);
  totals.add(usage, cost);
  return cost;
}

/** Sends the end of a tool call that returned. Its result may be a failure (`isFailure`). */
export function sendReturned(
  writer: RunWriter,
  call: ToolCall,
  output: unknown,
  options: ToolCallOptions,
): void {
  const shown = options.contentNeed === "none" ? undefined : output;
  writer.toolReturned(call, output, shown, options);
}

/** A decision about a tool call that waited. */
export interface Decision {
  readonly approved: boolean;
  readonly tool: string;
  readonly toolUseId: string;
  /** Content. */
  readonly reason: string;
}

/** Who made a decision, and how long it took. */
export interface Deciding {
  readonly by: "user" | "policy";
  readonly decidedBy: DecidedBy | undefined;
  /** Passed to {@link decidedBy}. */
  readonly metadata: Fields;
  /** `undefined`: not known. */
  readonly waitMs: number | undefined;
  readonly onError: (error: unknown) => void;
}

export function sendDecision(writer: RunWriter, decision: Decision, from: Deciding): void {
  const { approved, reason, tool, toolUseId } = decision;
  const { by, decidedBy, metadata, onError, waitMs } = from;
  const outcome = approved ? "approved" : "denied";
  const toolDecision = { outcome, tool, toolUseId, reason } as const;
  const person = by === "user" ? personOf(decidedBy, toolDecision, metadata, onError) : undefined;
  const details = {
    by,
    ...(person === undefined ? {} : { person }),
    ...(waitMs === undefined ? {} : { wait_ms: waitMs }),
  };
  if (!approved) writer.toolDenied(decision, reason, details);
  else writer.toolApproved(decision, reason === "" ? details : { ...details, reason });
}
