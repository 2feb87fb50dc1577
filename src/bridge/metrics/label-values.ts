import {
  checkedElsewhere,
  checkWhole,
  describe,
  type OptionChecks,
  withoutAdded,
} from "../../events/door.ts";
import { OTHER, UNKNOWN } from "./metric-names.ts";
import { MOST_SERIES } from "./series-table.ts";

/**
 * Cap of a label: the names in a list, or the first so many names. Other names become `_other`.
 */
export type LabelOption = number | readonly string[];

/** Caps of the labels of metrics that are computed from events. */
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

/** The names of the options. {@link resolveCaps} checks their values. */
export const METRIC_CHECKS: OptionChecks<MetricOptions> = {
  tenants: checkedElsewhere,
  agents: checkedElsewhere,
  tools: checkedElsewhere,
  models: checkedElsewhere,
};

/** The options with defaults. */
export type LabelCaps = { readonly [N in keyof MetricOptions]-?: LabelOption };

const DEFAULT_CAPS: LabelCaps = { tenants: 50, agents: 50, tools: 100, models: 50 };

/**
 * Applies the defaults.
 *
 * @throws RangeError if a number is not whole, or if a number or the length of a list is not from 0 to 1,900.
 * @throws TypeError if a cap is neither, or if a list contains something other than text.
 */
export function resolveCaps(asked: MetricOptions = {}): LabelCaps {
  const given = withoutAdded(asked);
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
 * Applies the cap of a label. A name always gets the same value, so that a count that went up under it also
 * goes down there.
 */
export class LabelValues {
  readonly #shown: Set<string>;
  readonly #most: number;

  constructor(option: LabelOption) {
    this.#shown = new Set(typeof option === "number" ? [] : option);
    this.#most = typeof option === "number" ? option : this.#shown.size;
  }

  /** The name, `_other` above the cap, or `unknown` if there is no name. */
  of(name: string | undefined): string {
    // Untyped programs can pass any value as a name.
    if (typeof name !== "string") return UNKNOWN;
    if (this.#shown.has(name)) return name;
    if (this.#shown.size >= this.#most || name.length > LONGEST) return OTHER;
    this.#shown.add(name);
    return name;
  }
}

/** Counts by tenant, with `_other` for tenants above the cap. */
export class TenantTally {
  readonly #names: LabelValues;
  readonly #counts = new Map<string, number>();

  /** @param shown the tenants that keep their name. */
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
