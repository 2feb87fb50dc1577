import type { SupposedEnd } from "../../lifecycle/signal.ts";
import type { KnownFacts } from "../known-facts.ts";
import type { ModelTurn } from "./model-turn.ts";

/** How often it was tried again, where it was. */
export function retryCount({ retries }: ModelTurn): number | undefined {
  return retries === 0 ? undefined : retries;
}

/** How a model call ended whose run waits and may wait for good; `undefined` where it gave no answer. */
export function modelAnswer(model: ModelTurn): SupposedEnd["model"] {
  const at = model.answered ? model.answeredAt : undefined;
  if (at === undefined) return undefined;
  const facts: KnownFacts = {
    "entelix.retry.count": retryCount(model),
    "gen_ai.response.time_to_first_chunk": model.firstChunkAfter,
  };
  return { at, facts };
}
