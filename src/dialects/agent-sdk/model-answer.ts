import type { SupposedEnd } from "../../lifecycle/signals.ts";
import type { KnownFacts } from "../known-facts.ts";
import type { ModelTurn } from "./model-turn.ts";

/** What a model call says of itself, whatever is told of its tokens. */
export function modelFacts(model: ModelTurn): KnownFacts {
  return {
    "entelix.retry.count": model.retries === 0 ? undefined : model.retries,
    "gen_ai.response.time_to_first_chunk": model.firstChunkAfter,
  };
}

/** How a model call ended whose run waits and may wait for good; `undefined` where it gave no answer. */
export function modelAnswer(model: ModelTurn): SupposedEnd["model"] {
  const at = model.answered ? model.answeredAt : undefined;
  return at === undefined ? undefined : { at, facts: modelFacts(model) };
}
