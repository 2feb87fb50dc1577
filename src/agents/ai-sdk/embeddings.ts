import { FROM_MODEL, property, recordSource } from "../../events/door.ts";
import {
  answeredBy,
  countOf,
  countUse,
  embeddedTexts,
  type Fields,
  listOf,
  type ModelCallOptions,
  type ModelUse,
  routedIn,
  textOf,
} from "../core/door.ts";
import { type ActiveRun, cutBy } from "../runtime/door.ts";
import type { CallState, OpenEmbedding } from "./call-state.ts";
import { operatorTextOf } from "./errors.ts";
import { requestIn } from "./requests.ts";

/** Operations of the SDK that ask embedding models. Inside a run, they are model calls of it. */
export const EMBEDDINGS: ReadonlySet<unknown> = new Set(["ai.embed", "ai.embedMany"]);

/** Follows the model calls of `embed` and `embedMany`. Several may be open, one for each chunk of the values. */
export class EmbeddingCalls {
  readonly #options: ModelCallOptions;

  constructor(options: ModelCallOptions) {
    this.#options = options;
  }

  /** A request starts. A retry has a new ID, and is an attempt of the same call. */
  started(state: CallState, event: Fields): OpenEmbedding {
    const { active, embeddings, isPart, totals, writer } = state;
    const values = listOf(event.values);
    const tried = [...embeddings].find(([, open]) => isRetried(state, open, values));
    const id = textOf(event.embedCallId) ?? writer.newId();
    if (tried !== undefined) {
      const [before, open] = tried;
      embeddings.delete(before);
      embeddings.set(id, open);
      open.id = id;
      open.error = undefined;
      return open;
    }
    const request = requestIn(event, undefined, false);
    const around = isPart ? (active.callKey ?? active.toolUseId) : undefined;
    const open: OpenEmbedding = {
      id,
      modelCallId: writer.newId(),
      model: textOf(event.modelId),
      operation: "embeddings",
      provider: request.provider,
      attempts: 0,
      responseModel: undefined,
      routed: undefined,
      values,
      startedMs: performance.now(),
      details: around === undefined ? undefined : { tool_use_id: around },
    };
    embeddings.set(id, open);
    totals.requests += 1;
    if (isPart) active.policy?.budget.takeRequest();
    const input = this.#options.contentNeed === "all" ? embeddedTexts(values) : undefined;
    writer.modelStarted(open, request, { input }, isPart ? active.stepId : undefined);
    return open;
  }

  /** @param event `embeddings` and `usage`. Without it, the call is not known. */
  answered(state: CallState, id: string | undefined, event: Fields): void {
    const open = state.embeddings.get(id ?? "");
    if (open === undefined) return;
    state.embeddings.delete(open.id);
    const input_tokens = countOf(property(event.usage, "tokens"));
    const routed = routedIn(undefined, event.providerMetadata);
    const known = {
      provider: answeredBy(open.provider, { responseModel: undefined, routed }),
      usage: input_tokens === null ? undefined : { input_tokens },
    };
    const use = { ...known, cost: countUse(open, known, state.totals, this.#options) };
    if (state.isPart) countIn(state.active, use);
    const dimensions = listOf(listOf(event.embeddings)?.[0] ?? event.embedding)?.length;
    state.writer.modelAnswered(open, {
      ...use,
      request:
        dimensions === undefined ? undefined : { parameters: { dimension_count: dimensions } },
    });
  }

  /** The SDK gives up. If a request is open, its model is the origin of the error. */
  threw({ active, embeddings, since }: CallState, thrown: unknown): void {
    if (embeddings.size === 0) return;
    recordSource(thrown, FROM_MODEL, { rootRunId: active.rootRunId, since });
  }

  /** Ends the open calls: with their own errors, or with that of the SDK if no call has one. */
  failed(state: CallState, shown: unknown): void {
    const open = [...state.embeddings.values()];
    const isKnown = open.some(({ error }) => error !== undefined);
    state.embeddings.clear();
    for (const each of open) {
      if (isKnown && each.error === undefined) state.writer.modelCut(each, cutBy(shown));
      else {
        const thrown = each.error?.thrown ?? property(shown, "lastError") ?? shown;
        state.writer.modelFailed(each, { thrown, text: operatorTextOf(thrown, state) });
      }
    }
  }
}

/** Adds a call to the budget of the run around it. A limit that it exceeds refuses the run's next call. */
function countIn({ policy }: ActiveRun, { cost, usage }: ModelUse): void {
  if (usage !== undefined) policy?.budget.addUsage(usage);
  if (cost !== undefined) policy?.budget.addCost(cost);
}

/**
 * Whether a request with these values is the next attempt of an open call.
 *
 * The AI SDK 7 does not report failed attempts. It repeats a chunk with the same list. `embed` has one chunk.
 */
function isRetried(
  { operationId, sdk }: CallState,
  { error, values: before }: OpenEmbedding,
  values: readonly unknown[] | undefined,
): boolean {
  if (sdk === 7) return operationId === "ai.embed" || before === values;
  return error !== undefined && String(before) === String(values);
}
