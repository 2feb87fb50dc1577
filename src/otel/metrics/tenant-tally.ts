import { LabelValues } from "./label-values.ts";
import type { LabelOption } from "./metric-options.ts";

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
