import { type Fields, type ModelCall, textOf, tokensIn } from "../core/door.ts";
import { type MastraSpan, startedMsOf, timeAt } from "./mastra-span.ts";
import type { SpanScope } from "./run-state.ts";

/** A processor that stopped its run (tripwire), or failed. */
export interface ProcessorEnd {
  readonly name: string | undefined;
  /** The error. `undefined`: it stopped the run. */
  readonly errorInfo: Fields | undefined;
  readonly phase: unknown;
}

/** Phases in which a stop ends the run, and Mastra ends no span of the run. */
const ENDS_UNSEEN: ReadonlySet<unknown> = new Set(["inputStep", "llmRequest", "outputStream"]);

/** @returns `undefined` if the processor neither stopped its run nor failed. */
export function processorEndIn(span: MastraSpan): ProcessorEnd | undefined {
  const { attributes, errorInfo, fields } = span;
  const isStop = attributes.tripwireAbort !== undefined;
  if (!isStop && errorInfo === undefined) return undefined;
  const name = textOf(fields.entityId);
  return { name, errorInfo: isStop ? undefined : errorInfo, phase: attributes.processorPhase };
}

/** Whether the run is over, although Mastra does not end its span. */
export function endsUnseen({ errorInfo, phase }: ProcessorEnd): boolean {
  return errorInfo === undefined && ENDS_UNSEEN.has(phase);
}

/**
 * Sends the tokens of model calls that Mastra hides, such as those of guardrails and of a model for structured
 * output. Mastra adds them up on the span around them. One model call without a model stands for them.
 */
export function sendHiddenUse(span: MastraSpan, { run, step, tool }: SpanScope): void {
  const usage = tokensIn(span.attributes.internalUsage);
  if (usage === undefined) return;
  const around = tool?.key ?? tool?.toolUseId;
  const startedMs = startedMsOf(span);
  const call: ModelCall = {
    modelCallId: run.writer.newId(),
    model: undefined,
    startedMs,
    details: { sums_calls: true, ...(around === undefined ? {} : { tool_use_id: around }) },
  };
  run.totals.requests += 1;
  run.totals.add(usage);
  run.writer.modelStarted(call, {}, { input: undefined }, step?.stepId, { at: timeAt(startedMs) });
  run.writer.modelAnswered(call, { usage });
}
