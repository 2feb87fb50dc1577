import type { SdkSpan, SdkSpanData } from "../../../src/entries/openai-agents.ts";
import type { listen } from "./told.ts";

// From 0.14 on, the SDK puts `task` and `turn` spans around agents and model calls, and ends the span of
// an agent that pauses; what goes on after a pause has new spans. These callbacks are as 0.20 makes them.

export const TRACE = { traceId: "trace_newer", name: "Agent workflow" };

function span(spanId: string, parentId: string | null, spanData: SdkSpanData): SdkSpan {
  const nothing = { error: null, startedAt: null, endedAt: null };
  return { spanId, traceId: TRACE.traceId, parentId, spanData, ...nothing };
}

export const asking = (tool: string, call_id: string) => ({
  type: "response",
  _response: { output: [{ type: "function_call", name: tool, call_id, arguments: "{}" }] },
});
export const saying = { type: "response", _response: { output: [{ type: "message" }] } };
export const calling = (name: string) => ({ type: "function", name, input: "{}", output: "done" });

export type Tree = readonly [id: string, data: SdkSpanData, ...below: Tree[]];

/**
 * Starts the spans of a tree and ends them, each around those below it. An agent's span has a task around it, unless
 * the tree has one.
 */
export async function play(
  heard: ReturnType<typeof listen>,
  tree: Tree,
  parent: string | null = null,
  error: SdkSpan["error"] = null,
  isInTask = false,
): Promise<void> {
  const [id, data, ...below] = tree;
  if (data.type === "agent" && !isInTask) {
    const around = span(`task_${id}`, parent, task);
    await heard.processor.onSpanStart(around);
    await play(heard, tree, around.spanId, error, true);
    await heard.processor.onSpanEnd(around);
    return;
  }
  const made = { ...span(id, parent, data), error: null as SdkSpan["error"] };
  await heard.processor.onSpanStart(made);
  await Promise.resolve();
  for (const inner of below) await play(heard, inner, id, null, data.type === "task");
  made.error = error;
  await heard.processor.onSpanEnd(made);
}

export const agent = (name: string) => ({ type: "agent", name });
export const task = { type: "task", name: TRACE.name };
export const turn = { type: "turn" };
/** A turn whose model answered. */
export const used = { type: "turn", usage: { input_tokens: 10, output_tokens: 5 } };
