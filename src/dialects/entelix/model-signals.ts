import { failureKindFromEnvelope, UNCLASSIFIED_ENVELOPE } from "../../errors/agent-error-tables.ts";
import type { Instant } from "../../events/instant.ts";
import type { ModelComplete, ModelError, ModelStart } from "../../events/model-event.ts";
import type { Lifecycle } from "../../lifecycle/lifecycle.ts";
import { endModelCall, startModelCall } from "../../lifecycle/model-signals.ts";
import type { ModelEnd, ModelOpening } from "../../lifecycle/signals.ts";
import type { KnownFacts } from "../known-facts.ts";
import {
  countIn,
  failureKindIn,
  millisecondsIn,
  secondsIn,
  textIn,
  textsIn,
} from "./loose-values.ts";

export function modelStarts<H>(lifecycle: Lifecycle<H>, event: ModelStart, at: Instant): boolean {
  const facts: KnownFacts = { "gen_ai.provider.name": nameIn(event.provider) };
  const opening: ModelOpening = {
    model: nameIn(event.model),
    content: event.input ?? undefined,
    facts,
  };
  return startModelCall(lifecycle, event.tenant_id, event.run_id, at, idOf(event), opening);
}

export function modelAnswers<H>(
  lifecycle: Lifecycle<H>,
  event: ModelComplete,
  at: Instant,
): boolean {
  const end: ModelEnd = {
    outcome: "complete",
    model: nameIn(event.model),
    content: event.output ?? undefined,
    asked: event.input ?? undefined,
    facts: answerFacts(event),
  };
  return ends(lifecycle, event, at, end);
}

export function modelFails<H>(lifecycle: Lifecycle<H>, event: ModelError, at: Instant): boolean {
  const envelope = event.envelope ?? UNCLASSIFIED_ENVELOPE;
  const model = nameIn(event.model);
  // A pause is no failure: what interrupts a tool call is no error of that either.
  if (envelope.wire_code === "interrupted") {
    return ends(lifecycle, event, at, { outcome: "interrupted", model, message: event.error });
  }
  const kind = failureKindIn(event.kind) ?? failureKindFromEnvelope(envelope);
  const problem = { kind, message: textIn(event.error) ?? "", envelope };
  return ends(lifecycle, event, at, { outcome: "error", model, problem });
}

function ends<H>(
  lifecycle: Lifecycle<H>,
  event: ModelComplete | ModelError,
  at: Instant,
  end: ModelEnd,
): boolean {
  const took = millisecondsIn(event.duration_ms);
  return endModelCall(lifecycle, event.tenant_id, event.run_id, at, idOf(event), took, end);
}

function answerFacts(event: ModelComplete): KnownFacts {
  const { usage } = event;
  return {
    "gen_ai.response.model": nameIn(event.response_model),
    "gen_ai.response.id": nameIn(event.response_id),
    "gen_ai.response.finish_reasons": textsIn(event.finish_reasons),
    "gen_ai.response.time_to_first_chunk": secondsIn(event.first_output_ms),
    "gen_ai.usage.input_tokens": countIn(usage?.input_tokens),
    "gen_ai.usage.output_tokens": countIn(usage?.output_tokens),
    "gen_ai.usage.cache_read.input_tokens": countIn(usage?.cache_read_input_tokens),
    "gen_ai.usage.cache_write.input_tokens": countIn(usage?.cache_write_input_tokens),
    "gen_ai.usage.reasoning.output_tokens": countIn(usage?.reasoning_output_tokens),
  };
}

function idOf(event: ModelStart | ModelComplete | ModelError): string {
  return textIn(event.model_call_id) ?? "";
}

/** A text with something in it. */
function nameIn(value: unknown): string | undefined {
  return textIn(value) || undefined;
}
