import { checkWhole, describe } from "../../events/door.ts";
import { OTHER, UNKNOWN } from "./metric-names.ts";
import { MOST_SERIES } from "./series-table.ts";

/**
 * Which values of a label are shown: those of a list, or as many of those that come first. The rest
 * is `_other`.
 */
export type LabelOption = number | readonly string[];

/** Bounds of the labels of the metrics that are counted from events. */
export interface MetricOptions {
  /** Tenants shown by name. Default: the first 50. */
  readonly tenants?: LabelOption | undefined;
  /** Agents shown by name. Default: the first 50. */
  readonly agents?: LabelOption | undefined;
  /** Tools shown by name. Default: the first 100. */
  readonly tools?: LabelOption | undefined;
  /** Models shown by name. Default: the first 50. */
  readonly models?: LabelOption | undefined;
}

/** The options with the defaults in. */
export type LabelCaps = { readonly [N in keyof MetricOptions]-?: LabelOption };

const DEFAULT_CAPS: LabelCaps = { tenants: 50, agents: 50, tools: 100, models: 50 };

/**
 * The caps that are to hold.
 *
 * @throws RangeError when a number is not whole, or a number or list is out of range (0 to 1,900).
 * @throws TypeError when it is neither, or a list holds something other than text.
 */
export function resolveCaps(given: MetricOptions = {}): LabelCaps {
  return {
    tenants: checked(given.tenants ?? DEFAULT_CAPS.tenants, "metrics.tenants"),
    agents: checked(given.agents ?? DEFAULT_CAPS.agents, "metrics.agents"),
    tools: checked(given.tools ?? DEFAULT_CAPS.tools, "metrics.tools"),
    models: checked(given.models ?? DEFAULT_CAPS.models, "metrics.models"),
  };
}

function checked(option: LabelOption, field: string): LabelOption {
  if (typeof option !== "number" && !Array.isArray(option)) {
    throw new TypeError(`${field}: expected a number or a list of names, got ${describe(option)}`);
  }
  const count = typeof option === "number" ? option : option.length;
  checkWhole(count, field);
  if (count > MOST_SERIES) {
    throw new RangeError(`${field}: expected at most ${MOST_SERIES}, got ${count}`);
  }
  if (typeof option === "number") return option;
  for (const name of option) {
    if (typeof name !== "string") {
      throw new TypeError(`${field}: expected a list of names, got a ${typeof name} in it`);
    }
  }
  return option;
}

/** Longer names are not readable on a dashboard. */
const LONGEST = 128;

/**
 * The values of one label that are shown: a list, or the first that come. Which value a name gets
 * never changes, so that what was counted up under it is counted down there too.
 */
export class LabelValues {
  readonly #shown: Set<string>;
  readonly #most: number;

  constructor(option: LabelOption) {
    this.#shown = new Set(typeof option === "number" ? [] : option);
    this.#most = typeof option === "number" ? option : this.#shown.size;
  }

  /** The name itself, or `_other`; `unknown` where there is none. */
  of(name: string | undefined): string {
    // Programs without types put anything where a name belongs.
    if (typeof name !== "string") return UNKNOWN;
    if (this.#shown.has(name)) return name;
    if (this.#shown.size >= this.#most || name.length > LONGEST) return OTHER;
    this.#shown.add(name);
    return name;
  }
}

/** A count for each tenant that is shown by name, and one for all others: `_other`. */
export class TenantTally {
  readonly #names: LabelValues;
  readonly #counts = new Map<string, number>();

  /** @param shown which tenants are shown by name. */
  constructor(shown: LabelOption) {
    this.#names = new LabelValues(shown);
  }

  add(tenantId: string): void {
    const name = this.#names.of(tenantId);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** A copy of the counts, by tenant. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
