import { checkList, checkObject, checkWhole } from "../option-checks.ts";
import { withoutAdded } from "../polluted-prototype.ts";
import { checkedElsewhere, type OptionChecks } from "../unknown-options.ts";

/**
 * From how many repetitions tool calls count as a loop. `0` turns a shape off.
 *
 * @example
 * new Bridge({ loops: { repeat: 8, pollTools: ["wait_for_job"] } });
 */
export interface LoopOptions {
  /** Consecutive calls of one tool with equal input. Default 5; at least 2. */
  readonly repeat?: number | undefined;
  /** Alternations of two calls, each with equal input and equal result. Default 4; at least 2. */
  readonly pingPong?: number | undefined;
  /**
   * Calls of one tool with equal input and equal result, also with calls of other tools between them. Default 10; at
   * least 2.
   */
  readonly poll?: number | undefined;
  /** Tools that are meant to be called again with the same input. `repeat` does not apply to them. Default: none. */
  readonly pollTools?: readonly string[] | undefined;
}

/** The names of the options. {@link resolveLoopLimits} checks their values. */
export const LOOP_CHECKS: OptionChecks<LoopOptions> = {
  repeat: checkedElsewhere,
  pingPong: checkedElsewhere,
  poll: checkedElsewhere,
  pollTools: checkedElsewhere,
};

/** The limits with their defaults. */
export interface LoopLimits {
  readonly repeat: number;
  readonly pingPong: number;
  readonly poll: number;
  readonly pollTools: ReadonlySet<string>;
}

/**
 * The defaults, replaced by `given`.
 *
 * @param given `false`: loops are not detected.
 * @throws TypeError or RangeError for an invalid option.
 */
export function resolveLoopLimits(given: LoopOptions | false | undefined): LoopLimits | undefined {
  if (given === false) return undefined;
  checkObject(given, "loops");
  const { repeat = 5, pingPong = 4, poll = 10, pollTools = [] } = withoutAdded(given ?? {});
  for (const [name, value] of Object.entries({ repeat, pingPong, poll })) {
    if (value !== 0) checkWhole(value, `loops.${name}`, 2);
  }
  checkList(pollTools, "loops.pollTools");
  if (repeat + pingPong + poll === 0) return undefined;
  return { repeat, pingPong, poll, pollTools: new Set(pollTools) };
}
