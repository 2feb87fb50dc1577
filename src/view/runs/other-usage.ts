import type { ViewSpan } from "../format.ts";
import { costIn, numberIn } from "../model/attributes.ts";
import { NO_USAGE } from "./indexed-run.ts";
import type { RunUsage } from "./run-facts.ts";
import { plusUsage } from "./run-trees.ts";

/** The usage that a span of other instrumentation says; `undefined` if it says none. */
export function usageIn({ attributes }: ViewSpan): RunUsage | undefined {
  const input = numberIn(attributes, "gen_ai.usage.input_tokens");
  const output = numberIn(attributes, "gen_ai.usage.output_tokens");
  const cost =
    costIn(attributes, "entelix.model.cost") ?? costIn(attributes, "entelix.agent.usage.cost");
  if ((input ?? output ?? cost) === undefined) return undefined;
  return { input, output, cost, whole: true };
}

/** The usage of a run's calls after one more span. That of an agent counts only if no call has any. */
export function usageAfter(before: RunUsage, span: ViewSpan): RunUsage {
  const usage = span.kind === "model" ? usageIn(span) : undefined;
  if (usage === undefined) return before;
  return plusUsage(before.whole ? NO_USAGE : before, { ...usage, whole: false });
}
