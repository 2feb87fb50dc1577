import { count } from "../../events/format/door.ts";
import type { SpanKindName, ViewSpan } from "../format.ts";
import { textIn } from "./attributes.ts";

/** Name of a kind of spans. The letter is used if there is no room for the word. */
export interface KindWords {
  readonly letter: string;
  readonly word: string;
  readonly plural: string;
}

const KINDS: Readonly<Record<SpanKindName, KindWords>> = {
  run: { letter: "R", word: "run", plural: "runs" },
  model: { letter: "M", word: "model call", plural: "model calls" },
  tool: { letter: "T", word: "tool call", plural: "tool calls" },
  step: { letter: "S", word: "step", plural: "steps" },
  other: { letter: "O", word: "other span", plural: "other spans" },
};

/** Every kind, in the order in which legends list them. */
export const SPAN_KINDS: readonly SpanKindName[] = ["run", "model", "tool", "step", "other"];

export function kindWords(kind: SpanKindName): KindWords {
  return KINDS[kind];
}

/** The name of a span without the operation in front of it: the agent, the model, the tool. */
export function shortName({ attributes, kind, name }: ViewSpan): string {
  switch (kind) {
    case "run":
      return textIn(attributes, "gen_ai.agent.name") ?? name;
    case "model":
      return (
        textIn(attributes, "gen_ai.request.model") ??
        textIn(attributes, "gen_ai.response.model") ??
        name
      );
    case "tool":
      return textIn(attributes, "gen_ai.tool.name") ?? name;
    case "step":
      return textIn(attributes, "entelix.step.name") ?? name;
    case "other":
      return name;
    default:
      return kind satisfies never;
  }
}

const OUTCOMES = [
  "entelix.run.outcome",
  "entelix.tool.outcome",
  "entelix.model.outcome",
  "entelix.step.outcome",
];

/** Outcome of a span from its attributes: `complete`, `error`, `denied`, `cancelled`. */
export function outcomeOf({ attributes }: ViewSpan): string | undefined {
  return OUTCOMES.map((name) => textIn(attributes, name)).find((outcome) => outcome !== undefined);
}

/** Outcome of a span that is neither failed nor complete: `denied`, `cancelled`, `interrupted`. */
export function unusualEnd(span: ViewSpan): string | undefined {
  const outcome = span.failed ? undefined : outcomeOf(span);
  return outcome === "complete" ? undefined : outcome;
}

/** `2 failed`. */
export function failedText(failed: number): string {
  return `${count(failed)} failed`;
}
