import type { ModelCallUsage, ModelComplete, ModelParameters, ModelStart } from "../model-event.ts";
import type { AttributeName } from "../semconv/semconv.ts";
import { soundUsage } from "../sound-usage.ts";
import { MOST_INT } from "../value-limits.ts";
import type { SpanAttributeValue } from "./signal.ts";

/** Attributes by name. A name that is not in the attribute table does not compile. */
export type SignalAttributes = { readonly [N in AttributeName]?: SpanAttributeValue | undefined };

/** The same, while they are being collected. */
export type OwnAttributes = { -readonly [N in keyof SignalAttributes]: SignalAttributes[N] };

/** A count as the number of an attribute, at most the highest that an attribute holds. */
export function numberOf(count: number | bigint): number;
export function numberOf(count: number | bigint | null | undefined): number | undefined;
export function numberOf(count: number | bigint | null | undefined): number | undefined {
  return count == null ? undefined : Math.min(Number(count), MOST_INT);
}

/** The attributes of a usage whose figures were checked. A part that is larger than its whole is not known. */
export function usageAttributes(given: ModelCallUsage | null | undefined): OwnAttributes {
  if (given === null || given === undefined) return {};
  const usage = soundUsage(given);
  return {
    "gen_ai.usage.input_tokens": numberOf(usage.input_tokens),
    "gen_ai.usage.output_tokens": numberOf(usage.output_tokens),
    "gen_ai.usage.cache_read.input_tokens": numberOf(usage.cache_read_input_tokens),
    "gen_ai.usage.cache_write.input_tokens": numberOf(usage.cache_write_input_tokens),
    "gen_ai.usage.reasoning.output_tokens": numberOf(usage.reasoning_output_tokens),
  };
}

/** Stop sequences that a span shows. */
const MOST_SEQUENCES = 32;
const MOST_PORT = 65_535;

/**
 * The attributes of a model request, without its messages. The start or the end of the call has them.
 *
 * The conventions have no attribute for the choice of a tool. `stream` and the number of choices are set only if they
 * differ from their defaults.
 */
export function requestAttributes(event: ModelStart | ModelComplete): OwnAttributes {
  const { parameters, provider } = event;
  const attributes: OwnAttributes = { "gen_ai.provider.name": nameIn(provider) };
  setServer(attributes, event);
  if (typeof parameters === "object" && parameters !== null) {
    setParameters(attributes, parameters);
  }
  return attributes;
}

/** Adds the server of a request, if it is known. */
export function setServer(
  on: OwnAttributes,
  { server_address, server_port }: Pick<ModelStart, "server_address" | "server_port">,
): void {
  const server = nameIn(server_address);
  if (server === undefined) return;
  on["server.address"] = server;
  on["server.port"] = portIn(server_port);
}

/** Adds the attributes of the request from the end of a call, if it has any. */
export function withRequest(on: OwnAttributes, event: ModelComplete): OwnAttributes {
  const { parameters, provider, server_address } = event;
  const any = provider ?? server_address ?? parameters ?? undefined;
  return any === undefined ? on : Object.assign(on, requestAttributes(event));
}

function setParameters(on: OwnAttributes, asked: ModelParameters): void {
  on["gen_ai.request.temperature"] = numberIn(asked.temperature);
  on["gen_ai.request.top_p"] = numberIn(asked.top_p);
  on["gen_ai.request.top_k"] = integerIn(asked.top_k);
  on["gen_ai.request.max_tokens"] = integerIn(asked.max_tokens);
  on["gen_ai.request.frequency_penalty"] = numberIn(asked.frequency_penalty);
  on["gen_ai.request.presence_penalty"] = numberIn(asked.presence_penalty);
  on["gen_ai.request.seed"] = integerIn(asked.seed);
  const choices = integerIn(asked.choice_count);
  if (choices !== 1) on["gen_ai.request.choice.count"] = choices;
  on["gen_ai.request.stop_sequences"] = sequencesIn(asked.stop_sequences);
  if (asked.stream === true) on["gen_ai.request.stream"] = true;
  on["gen_ai.request.reasoning.level"] = nameIn(asked.reasoning_effort);
  on["entelix.request.tool_choice"] = nameIn(asked.tool_choice);
  on["gen_ai.embeddings.dimension.count"] = integerIn(asked.dimension_count);
}

// Untyped programs may send any value. A value of a wrong type counts as absent.

function nameIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A fraction would change the type of the attribute, which a backend may refuse. */
function integerIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : undefined;
}

function portIn(value: unknown): number | undefined {
  const port = integerIn(value);
  return port !== undefined && port > 0 && port <= MOST_PORT ? port : undefined;
}

function sequencesIn(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.slice(0, MOST_SEQUENCES).filter((one: unknown) => typeof one === "string");
  return texts.length === 0 ? undefined : texts;
}
