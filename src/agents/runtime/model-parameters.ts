import { type ModelParameters, property } from "../../events/door.ts";

const NUMBERS = [
  "temperature",
  "top_p",
  "top_k",
  "max_tokens",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "choice_count",
  "dimension_count",
] as const;
const TEXTS = ["tool_choice", "reasoning_effort"] as const;

/** Maximum number of stop sequences, and maximum characters of each text. */
const MOST_SEQUENCES = 32;
const MOST_CHARACTERS = 256;

type Open = { -readonly [K in keyof ModelParameters]: ModelParameters[K] };

/**
 * The valid parameters of an object. Invalid values are omitted, because a line with them could not be read. Never
 * throws.
 *
 * @param given any object with the names of `ModelParameters`.
 * @returns `undefined` if there are none.
 */
export function parametersIn(given: unknown): ModelParameters | undefined {
  const found: Open = {};
  for (const name of NUMBERS) {
    const value = property(given, name);
    if (typeof value === "number" && Number.isFinite(value)) found[name] = value;
  }
  for (const name of TEXTS) {
    const value = property(given, name);
    if (typeof value === "string" && value !== "") found[name] = cut(value);
  }
  const stream = property(given, "stream");
  if (typeof stream === "boolean") found.stream = stream;
  const sequences = textsIn(property(given, "stop_sequences"));
  if (sequences !== undefined) found.stop_sequences = sequences;
  for (const name in found) if (Object.hasOwn(found, name)) return found;
  return undefined;
}

function textsIn(value: unknown): readonly string[] | undefined {
  if (typeof value === "string") return [cut(value)];
  if (!Array.isArray(value)) return undefined;
  const texts = value.slice(0, MOST_SEQUENCES).filter((one: unknown) => typeof one === "string");
  return texts.length === 0 ? undefined : texts.map(cut);
}

function cut(text: string): string {
  return text.slice(0, MOST_CHARACTERS);
}
