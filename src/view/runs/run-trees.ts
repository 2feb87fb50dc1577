import { addDecimals, type Decimal, formatDecimal, readDecimal, ZERO } from "../../events/door.ts";
import { CountColumn } from "./columns.ts";
import type { RunUsage } from "./run-facts.ts";

/** Levels of runs that sums rise through; agents nest far less. It also ends a ring of parents. */
const DEEPEST = 64;

/** What the runs below a run have used. */
interface Below {
  input: number | undefined;
  output: number | undefined;
  cost: Decimal | undefined;
}

/** Which run dispatched which, and what runs below others used. */
export class RunTrees {
  /** Row of the parent, plus 1. */
  readonly #parents = new CountColumn();
  readonly #children = new CountColumn();
  /** Of runs with child runs that used something: there are few. */
  readonly #below = new Map<number, Below>();

  /** The parent of a run, once it is known. */
  parentOf(row: number): number | undefined {
    const parent = this.#parents.get(row);
    return parent === 0 ? undefined : parent - 1;
  }

  childCount(row: number): number {
    return this.#children.get(row);
  }

  /** The child runs of some runs, among the first `rows`. */
  childrenOf(parents: ReadonlySet<number>, rows: number): number[] {
    const found: number[] = [];
    for (let row = 0; row < rows; row += 1) {
      const parent = this.#parents.get(row);
      if (parent > 0 && parents.has(parent - 1)) found.push(row);
    }
    return found;
  }

  /**
   * Puts a run under the one that dispatched it; its first parent stays.
   *
   * @param own what the run itself has used.
   * @returns whether it is new there.
   */
  attach(row: number, parent: number, own: RunUsage | undefined): boolean {
    if (row === parent || this.#parents.get(row) > 0) return false;
    this.#parents.set(row, parent + 1);
    this.#children.add(parent, 1);
    if (own !== undefined) this.changed(row, undefined, own);
    const below = this.#below.get(row);
    if (below !== undefined) this.#rise(row, below);
    return true;
  }

  /** A run has used other than was known before. What names a whole tree stands at its top, and rises no further. */
  changed(row: number, before: RunUsage | undefined, now: RunUsage): void {
    if (now.whole) return;
    const costBefore = readDecimal(before?.cost);
    const cost = readDecimal(now.cost);
    this.#rise(row, {
      input: difference(now.input, before?.input),
      output: difference(now.output, before?.output),
      cost: cost === undefined || costBefore === undefined ? cost : less(cost, costBefore),
    });
  }

  /** What a run has used, with its child runs. */
  total(row: number, own: RunUsage): RunUsage {
    const below = own.whole ? undefined : this.#below.get(row);
    if (below === undefined) return own;
    const cost = readDecimal(own.cost);
    const sum = below.cost === undefined ? cost : addDecimals(cost ?? ZERO, below.cost);
    return {
      input: plus(own.input, below.input),
      output: plus(own.output, below.output),
      cost: sum === undefined ? own.cost : formatDecimal(sum),
      whole: true,
    };
  }

  #rise(row: number, { cost, input, output }: Below): void {
    if (input === undefined && output === undefined && cost === undefined) return;
    let above = this.parentOf(row);
    for (let level = 0; above !== undefined && level < DEEPEST; level += 1) {
      const below = this.#below.get(above) ?? {
        input: undefined,
        output: undefined,
        cost: undefined,
      };
      below.input = plus(below.input, input);
      below.output = plus(below.output, output);
      if (cost !== undefined) below.cost = addDecimals(below.cost ?? ZERO, cost);
      this.#below.set(above, below);
      above = this.parentOf(above);
    }
  }
}

function plus(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0);
}

function difference(now: number | undefined, before: number | undefined): number | undefined {
  return now === undefined ? undefined : now - (before ?? 0);
}

function less(one: Decimal, other: Decimal): Decimal {
  return addDecimals(one, { digits: -other.digits, scale: other.scale });
}
