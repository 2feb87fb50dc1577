import { checkList, checkObject, checkWhole } from "../option-checks.ts";

/**
 * What counts as a loop of tool calls: how often a shape comes in a run before it is one. `0` turns the shape off.
 *
 * @example
 * new Bridge({ loops: { repeat: 8, pollTools: ["wait_for_job"] } });
 */
export interface LoopOptions {
  /** Calls of one tool in a row with equal input. Default 5; at least 2. */
  readonly repeat?: number | undefined;
  /** How often two calls alternate, each with equal input and equal result. Default 4; at least 2. */
  readonly pingPong?: number | undefined;
  /**
   * Calls of one tool with equal input and equal result. Calls of other tools may come between. Default 10; at
   * least 2.
   */
  readonly poll?: number | undefined;
  /** Tools that are made to be called again with the same input: `repeat` does not apply to them. Default: none. */
  readonly pollTools?: readonly string[] | undefined;
}

/** The same, complete. */
export interface LoopLimits {
  readonly repeat: number;
  readonly pingPong: number;
  readonly poll: number;
  readonly pollTools: ReadonlySet<string>;
}

/**
 * The defaults with `given` on top.
 *
 * @param given `false`: no loops are looked for.
 * @throws TypeError or RangeError for an option that is none.
 */
export function resolveLoopLimits(given: LoopOptions | false | undefined): LoopLimits | undefined {
  if (given === false) return undefined;
  checkObject(given, "loops");
  const { repeat = 5, pingPong = 4, poll = 10, pollTools = [] } = given ?? {};
  for (const [name, value] of Object.entries({ repeat, pingPong, poll })) {
    if (value !== 0) checkWhole(value, `loops.${name}`, 2);
  }
  checkList(pollTools, "loops.pollTools");
  if (repeat + pingPong + poll === 0) return undefined;
  return { repeat, pingPong, poll, pollTools: new Set(pollTools) };
}
