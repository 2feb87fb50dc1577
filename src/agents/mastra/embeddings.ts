import type { AgentError } from "../../events/door.ts";
import {
  aiSdkProvider,
  countUse,
  embeddedTexts,
  type ModelCallOptions,
  textOf,
  tokensIn,
} from "../core/door.ts";
import { copiedError } from "./errors.ts";
import type { MastraSpan } from "./mastra-span.ts";
import type { OpenEmbedding, RunState, SpanScope } from "./run-state.ts";

/** Follows requests of embedding models: spans of type `rag_embedding`, such as those of `@mastra/rag`. */
export class EmbeddingCalls {
  readonly #options: ModelCallOptions;

  constructor(options: ModelCallOptions) {
    this.#options = options;
  }

  started({ attributes, id, input }: MastraSpan, scope: SpanScope): SpanScope {
    const { run, step, tool } = scope;
    const around = tool?.key ?? tool?.toolUseId;
    const provider = aiSdkProvider(textOf(attributes.provider));
    const open: OpenEmbedding = {
      modelCallId: run.writer.newId(),
      model: textOf(attributes.model),
      operation: "embeddings",
      provider,
      startedMs: performance.now(),
      details: around === undefined ? undefined : { tool_use_id: around },
    };
    run.embeddings.set(id, open);
    run.totals.requests += 1;
    const texts = this.#options.contentNeed === "all" ? embeddedTexts(input) : undefined;
    const request = provider === undefined ? {} : { provider };
    run.writer.modelStarted(open, request, { input: texts }, step?.stepId);
    return scope;
  }

  ended({ attributes, errorInfo, id }: MastraSpan, { run }: SpanScope): void {
    const open = run.embeddings.get(id);
    if (open === undefined) return;
    run.embeddings.delete(id);
    const usage = tokensIn(attributes.usage);
    const use = { usage, cost: countUse(open, { usage }, run.totals, this.#options) };
    if (errorInfo !== undefined) {
      run.writer.modelFailed(open, { ...use, thrown: copiedError(errorInfo) });
      return;
    }
    const { dimensions } = attributes;
    const isKnown = typeof dimensions === "number";
    const request = isKnown ? { parameters: { dimension_count: dimensions } } : undefined;
    run.writer.modelAnswered(open, { ...use, request });
  }

  cutAll({ embeddings, writer }: RunState, error: AgentError): void {
    for (const open of embeddings.values()) writer.modelCut(open, error);
    embeddings.clear();
  }
}
