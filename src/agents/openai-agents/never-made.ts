import { type Instant, type NotMade, property } from "../../events/door.ts";
import { fieldIn, textOf } from "../core/door.ts";
import { begins } from "./asked-calls.ts";
import type { SdkSpan, SdkSpanError } from "./sdk.ts";
import { type AskedCall, isNoJson } from "./span-answer.ts";
import type { AgentRun, TraceRecord } from "./trace-record.ts";

// Calls of a model that no tool got.

/** The SDK's error, with which a run ends whose model called a tool that its agent does not have. */
const NO_TOOL = /^(?:ModelBehaviorError: )?Tool (.{1,200}) not found in agent /;

/**
 * Sends calls of the last answer for which the SDK makes no span: those whose arguments are not JSON, which it answers
 * itself before 0.20, and the one of a tool that the agent does not have, which ends the run.
 *
 * @param span shows that the calls are over: the next call of the model, or the end of the agent.
 */
export function sendNeverMade(
  trace: TraceRecord,
  run: AgentRun,
  span: SdkSpan,
  at: Readonly<Instant>,
): void {
  const missing = NO_TOOL.exec(textOf(fieldIn(span.error?.data, "error")) ?? "")?.[1];
  for (const call of run.asked) {
    const code = whyNeverMade(call, missing);
    if (code === undefined) continue;
    begins(run, call);
    trace.totals.toolCalls += 1;
    const { id: toolUseId, tool } = call;
    const named = { toolUseId, tool, startedMs: 0, durationMs: 0 };
    const on = (what: string) => ({ eventId: `${span.spanId}:${what}:${toolUseId}`, at });
    run.writer.toolNotMade(
      named,
      { input: undefined, code, text: null },
      on("unmade"),
      on("refused"),
    );
  }
}

function whyNeverMade(call: AskedCall, missing: string | undefined): NotMade | undefined {
  const { bare, begun, input, spanNames, tool } = call;
  if (begun || !bare) return undefined;
  if (isNoJson(input)) return "tool_input_invalid";
  if (missing === undefined) return undefined;
  return tool === missing || spanNames?.includes(missing) === true ? "tool_unknown" : undefined;
}

/** Whether the SDK did not call the tool, because the input does not fit. From 0.20 on, it hides its error. */
export function isUnfit(run: AgentRun, toolUseId: string, error: SdkSpanError): boolean {
  if (textOf(property(error.data, "error"))?.startsWith("InvalidToolInputError: ")) return true;
  return run.asked.some(({ bare, id, input }) => bare && id === toolUseId && isNoJson(input));
}
