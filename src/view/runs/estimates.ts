import type { PricedCall } from "../../agents/door.ts";
import { addDecimals, type Decimal, readDecimal, ZERO } from "../../events/door.ts";
import type { ViewSpan } from "../format.ts";
import { costIn, numberIn, textIn } from "../model/attributes.ts";
import type { IndexedRun } from "./indexed-run.ts";
import { runsAbove } from "./run-trees.ts";

/** Estimates what model calls cost, by a list of prices. */
export interface CostEstimates {
  /** The list with its date, as it stands beside each estimated cost: `prices of 2026-11-03`. */
  readonly name: string;
  /** US dollars as decimal text. `undefined`: not known. */
  costOf(call: PricedCall, at: Date): string | undefined;
}

/** The cost of an ended model call whose sender says none. `undefined`: not known. */
function estimateOf(span: ViewSpan, estimates: CostEstimates): string | undefined {
  const { attributes, end_ns, kind, start_ns } = span;
  if (kind !== "model" || end_ns === null) return undefined;
  if (costIn(attributes, "entelix.model.cost") !== undefined) return undefined;
  const tokens = (name: string) => numberIn(attributes, `gen_ai.usage.${name}`);
  const call: PricedCall = {
    provider: textIn(attributes, "gen_ai.provider.name"),
    model: textIn(attributes, "gen_ai.request.model"),
    responseModel: textIn(attributes, "gen_ai.response.model"),
    usage: {
      input_tokens: tokens("input_tokens") ?? null,
      output_tokens: tokens("output_tokens") ?? null,
      cache_read_input_tokens: tokens("cache_read.input_tokens") ?? null,
      cache_write_input_tokens: tokens("cache_creation.input_tokens") ?? null,
    },
  };
  return estimates.costOf(call, new Date(Number(start_ns) / 1e6));
}

/** The spans with estimated costs where the senders say none. */
export function withEstimates(
  spans: readonly ViewSpan[],
  estimates: CostEstimates,
): readonly ViewSpan[] {
  return spans.map((span) => {
    const cost = estimateOf(span, estimates);
    if (cost === undefined) return span;
    const attributes = { ...span.attributes, "entelix.model.cost": cost };
    return { ...span, attributes, estimated_by: estimates.name };
  });
}

/** Estimated costs of a run's own calls, and of those of the runs below it. */
export interface EstimatedCost {
  own: Decimal | undefined;
  below: Decimal | undefined;
}

/** Sets the estimated cost of a run's own calls, and adds the difference to the runs above. */
export function setEstimate(run: IndexedRun, own: Decimal | undefined): void {
  const before = run.estimated?.own;
  if (own === undefined && before === undefined) return;
  run.estimated = { own, below: run.estimated?.below };
  addAbove(run, addDecimals(own ?? ZERO, minus(before ?? ZERO)));
}

/** A run has got a parent: its estimated costs count above it, too. */
export function addEstimateAbove(run: IndexedRun): void {
  const cost = estimatedCost(run);
  if (cost !== undefined) addAbove(run, cost);
}

/** The estimated cost of a run with all below it. */
export function estimatedCost({ estimated }: IndexedRun): Decimal | undefined {
  const { below, own } = estimated ?? {};
  return own === undefined || below === undefined ? (own ?? below) : addDecimals(own, below);
}

/** A sum with the estimated cost of one more span, if it has one. */
export function plusEstimate(
  sum: Decimal | undefined,
  span: ViewSpan,
  estimates: CostEstimates | undefined,
): Decimal | undefined {
  const more = estimates && readDecimal(estimateOf(span, estimates));
  return more === undefined ? sum : addDecimals(sum ?? ZERO, more);
}

function addAbove(run: IndexedRun, cost: Decimal): void {
  for (const above of runsAbove(run)) {
    const { below = undefined, own = undefined } = above.estimated ?? {};
    above.estimated = { own, below: addDecimals(below ?? ZERO, cost) };
  }
}

function minus({ digits, scale }: Decimal): Decimal {
  return { digits: -digits, scale };
}
