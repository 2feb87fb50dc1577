import type { ViewSpan } from "../format.ts";
import { aiSdk } from "./vocabularies/ai-sdk.ts";
import { genAi } from "./vocabularies/gen-ai.ts";
import { langfuse } from "./vocabularies/langfuse.ts";
import { openInference } from "./vocabularies/openinference.ts";
import { conventional, type Vocabulary } from "./vocabularies/reading.ts";
import { withStackApart } from "./vocabularies/stack-apart.ts";
import { traceloop } from "./vocabularies/traceloop.ts";

/**
 * A span can have the names of several vocabularies: the first one that knows it counts. Processors of OpenInference
 * add their names to the AI SDK's spans, with less in them. Models of others often have the conventions' names, too.
 */
const VOCABULARIES: readonly Vocabulary[] = [aiSdk, langfuse, openInference, traceloop, genAi];

/**
 * A span of other instrumentation, with its trace as its run if it says something of an agent. It then also has the
 * names of the GenAI conventions. Other spans stay as they are.
 */
export function withVocabulary(span: ViewSpan): ViewSpan {
  const { parent_span_id, ...root } = span;
  // A parent in another process may send no spans.
  const isOuter = parent_span_id === undefined || span.remote_parent === true;
  for (const { name: vocabulary, read } of VOCABULARIES) {
    const reading = read(isOuter ? root : span);
    if (reading === undefined) continue;
    const { error } = reading;
    // The outermost step, such as a graph, is what ran.
    const isRoot = isOuter && reading.kind === "step";
    const kind = isRoot ? "run" : reading.kind;
    const attributes = { ...span.attributes, ...conventional(reading, span) };
    if (kind === "run") attributes["gen_ai.agent.name"] ??= span.name;
    return withStackApart({
      ...span,
      run_id: span.trace_id,
      vocabulary,
      kind,
      attributes,
      failed: span.failed || error !== undefined,
      ...(span.message === undefined && error?.message !== undefined
        ? { message: error.message }
        : {}),
    });
  }
  return span;
}
