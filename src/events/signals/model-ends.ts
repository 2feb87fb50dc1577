import { failureKindFromEnvelope, UNCLASSIFIED_ENVELOPE } from "../errors/agent-error-tables.ts";
import type { EventDetails } from "../event-details.ts";
import type {
  ModelComplete,
  ModelError,
  ModelEvent,
  ModelOperation,
  ModelStart,
} from "../model-event.ts";
import { soundUsage } from "../sound-usage.ts";
import { costIn, countIn, secondsIn } from "./details.ts";
import type { ModelEnd } from "./signal.ts";
import { type OwnAttributes, setServer, withRequest } from "./signal-attributes.ts";
import { failureKindIn, nameIn, textIn } from "./untyped.ts";

/** `undefined`: `chat`, as of senders that do not know operations. */
export function operationIn({ operation }: ModelEvent): ModelOperation | undefined {
  return operation === "embeddings" ? operation : undefined;
}

/** Instructions and tools of a request. `undefined` without both. */
export function contextOf({ system_instructions, tools }: ModelStart | ModelComplete) {
  const instructions = system_instructions ?? undefined;
  if (instructions === undefined && (tools ?? undefined) === undefined) return undefined;
  return { instructions, tools };
}

export function answerOf(event: ModelComplete, details: EventDetails | undefined): ModelEnd {
  const attributes = useOf(event, details, event);
  return {
    outcome: "complete",
    model: nameIn(event.model),
    operation: operationIn(event),
    sumsCalls: details?.sums_calls,
    content: event.output ?? undefined,
    asked: event.input ?? undefined,
    context: contextOf(event),
    attributes: withRequest(attributes, event),
  };
}

/** @param answer of a call that was answered. */
function useOf(
  event: ModelComplete | ModelError,
  details: EventDetails | undefined,
  answer?: ModelComplete,
): OwnAttributes {
  // Untyped programs may send something else.
  const usage =
    typeof event.usage === "object" && event.usage ? soundUsage(event.usage) : undefined;
  // One literal: spreading the request's attributes into it takes ten times as long.
  return {
    // That of an answer is set with the request, after this.
    "gen_ai.provider.name": nameIn(event.provider),
    "gen_ai.response.model": nameIn(event.response_model),
    "gen_ai.response.id": nameIn(event.response_id),
    "gen_ai.response.finish_reasons": textsIn(answer?.finish_reasons),
    "gen_ai.response.time_to_first_chunk": secondsIn(answer?.first_output_ms),
    "gen_ai.usage.input_tokens": countIn(usage?.input_tokens),
    "gen_ai.usage.output_tokens": countIn(usage?.output_tokens),
    "gen_ai.usage.cache_read.input_tokens": countIn(usage?.cache_read_input_tokens),
    "gen_ai.usage.cache_write.input_tokens": countIn(usage?.cache_write_input_tokens),
    "gen_ai.usage.reasoning.output_tokens": countIn(usage?.reasoning_output_tokens),
    "entelix.model.cost": costIn(event.cost_usd, details),
    "entelix.retry.count": countIn(event.retries) || undefined,
  };
}

export function modelErrorOf(event: ModelError, details: EventDetails | undefined): ModelEnd {
  const envelope = event.envelope ?? UNCLASSIFIED_ENVELOPE;
  const model = nameIn(event.model);
  const operation = operationIn(event);
  const attributes = useOf(event, details);
  setServer(attributes, event);
  // A pause, or the interrupt of a tool call, is not a failure of the model call.
  if (envelope.wire_code === "interrupted") {
    return { outcome: "interrupted", model, operation, message: event.error, attributes };
  }
  const kind = failureKindIn(event.kind) ?? failureKindFromEnvelope(envelope);
  const message = textIn(event.error) ?? "";
  const problem = { kind, message, envelope, exception: details?.exception };
  return { outcome: "error", model, operation, problem, attributes };
}

/** The texts of a list. `undefined` if there is none. */
function textsIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one: unknown) => typeof one === "string");
  return texts.length === 0 ? undefined : texts;
}
