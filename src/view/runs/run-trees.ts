import { addDecimals, type Decimal, formatDecimal, readDecimal, ZERO } from "../../events/door.ts";
import { addCosts } from "../model/usage.ts";
import type { Below, IndexedRun } from "./indexed-run.ts";
import type { RunUsage } from "./run-facts.ts";

/** Levels of runs above a run that get its usage; agents nest far less. It also ends a ring of parents. */
const DEEPEST = 64;

/** The runs above a run, its parent first. */
export function* runsAbove({ parent }: IndexedRun): Generator<IndexedRun> {
  let above = parent;
  for (let level = 0; above !== undefined && level < DEEPEST; level += 1) {
    yield above;
    above = above.parent;
  }
}

/**
 * Makes a run the child of another one. A run keeps its first parent.
 *
 * @returns whether it was added.
 */
export function attach(run: IndexedRun, parent: IndexedRun): boolean {
  if (run === parent || run.parentId !== undefined) return false;
  run.parent = parent;
  run.parentId = parent.run_id;
  parent.childCount += 1;
  if (!run.usage.whole) addAbove(run, difference(run.usage, undefined));
  if (run.below !== undefined) addAbove(run, run.below);
  return true;
}

/** Sets the usage of a run, and adds the difference to the runs above. The usage of a whole tree stays at its root. */
export function setUsage(run: IndexedRun, usage: RunUsage): void {
  if (!usage.whole) addAbove(run, difference(usage, run.usage));
  run.usage = usage;
}

/** Usage of a run and of all below it. */
export function totalUsage({ below, usage }: IndexedRun): RunUsage {
  if (usage.whole || below === undefined) return usage;
  const cost = below.cost === undefined ? undefined : formatDecimal(below.cost);
  return plusUsage(usage, { ...below, cost, whole: true });
}

/** The sum of two usages. */
export function plusUsage(before: RunUsage, { cost, input, output, whole }: RunUsage): RunUsage {
  return {
    input: plus(before.input, input),
    output: plus(before.output, output),
    cost: addCosts(before.cost, cost),
    whole,
  };
}

function addAbove(run: IndexedRun, { cost, input, output }: Below): void {
  if (input === undefined && output === undefined && cost === undefined) return;
  for (const above of runsAbove(run)) {
    above.below ??= { input: undefined, output: undefined, cost: undefined };
    const { below } = above;
    below.input = plus(below.input, input);
    below.output = plus(below.output, output);
    if (cost !== undefined) below.cost = addDecimals(below.cost ?? ZERO, cost);
  }
}

function difference(now: RunUsage, before: RunUsage | undefined): Below {
  const cost = readDecimal(now.cost);
  const costBefore = readDecimal(before?.cost);
  return {
    input: minus(now.input, before?.input),
    output: minus(now.output, before?.output),
    cost: costBefore === undefined ? cost : less(cost ?? ZERO, costBefore),
  };
}

/** The sum of known numbers. */
function plus(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0);
}

function minus(one: number | undefined, other: number | undefined): number | undefined {
  return other === undefined ? one : (one ?? 0) - other;
}

function less(one: Decimal, other: Decimal): Decimal {
  return addDecimals(one, { digits: -other.digits, scale: other.scale });
}

/** The child runs of some runs. */
export function childrenOf(
  runs: Iterable<IndexedRun>,
  parents: ReadonlySet<IndexedRun>,
): readonly IndexedRun[] {
  const found: IndexedRun[] = [];
  for (const run of runs) {
    if (run.parent !== undefined && parents.has(run.parent)) found.push(run);
  }
  return found;
}
