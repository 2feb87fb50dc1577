import { addDecimals, formatDecimal, readDecimal } from "../../events/format/door.ts";
import type { ViewSpan } from "../format.ts";
import { costIn, numberIn } from "./attributes.ts";
import type { SpanNode, SpanTree } from "./span-tree.ts";

/** Known tokens and cost. */
export interface Usage {
  readonly input?: number;
  readonly output?: number;
  /** US dollars as decimal text. */
  readonly cost?: string;
}

const NOTHING: Usage = {};

/** Usage of each span with all spans under it. Spans without usage are left out. */
export function usageUnder(tree: SpanTree): ReadonlyMap<SpanNode, Usage> {
  const under = new Map<SpanNode, Usage>();
  for (let at = tree.nodes.length - 1; at >= 0; at--) {
    const node = tree.nodes[at];
    if (node === undefined) continue;
    const below = node.children.map((child) => under.get(child) ?? NOTHING);
    const sum = addUsage([ownUsage(node.span), ...below]);
    const usage = isNothing(sum) && node.span.kind === "run" ? usageAtEnd(node.span) : sum;
    if (!isNothing(usage)) under.set(node, usage);
  }
  return under;
}

/** Usage of a model call; none for other spans. */
export function ownUsage({ attributes, kind }: ViewSpan): Usage {
  if (kind !== "model") return NOTHING;
  return usage(
    numberIn(attributes, "gen_ai.usage.input_tokens"),
    numberIn(attributes, "gen_ai.usage.output_tokens"),
    costIn(attributes, "entelix.model.cost"),
  );
}

/** Usage from the span of a run whose model calls have no spans. */
function usageAtEnd({ attributes }: ViewSpan): Usage {
  const tokens = (name: string) =>
    numberIn(attributes, `gen_ai.usage.${name}`) ?? numberIn(attributes, `entelix.run.${name}`);
  return usage(
    tokens("input_tokens"),
    tokens("output_tokens"),
    costIn(attributes, "entelix.agent.usage.cost") ?? costIn(attributes, "entelix.run.cost"),
  );
}

/** Sum of the known values. */
export function addUsage(all: readonly Usage[]): Usage {
  let input: number | undefined;
  let output: number | undefined;
  let cost: string | undefined;
  for (const one of all) {
    if (one.input !== undefined) input = (input ?? 0) + one.input;
    if (one.output !== undefined) output = (output ?? 0) + one.output;
    cost = addCosts(cost, one.cost);
  }
  return usage(input, output, cost);
}

/** The exact sum of two costs. Other text than a decimal number from 0 counts as none. */
export function addCosts(one: string | undefined, other: string | undefined): string | undefined {
  const [a, b] = [readDecimal(one), readDecimal(other)];
  if (a === undefined) return b === undefined ? undefined : other;
  return b === undefined ? one : formatDecimal(addDecimals(a, b));
}

function usage(input?: number, output?: number, cost?: string): Usage {
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(cost === undefined ? {} : { cost }),
  };
}

function isNothing({ cost, input, output }: Usage): boolean {
  return cost === undefined && input === undefined && output === undefined;
}
