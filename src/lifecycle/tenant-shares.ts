/** What has a tenant: an open run. */
export interface OfTenant {
  readonly tenantId: string;
}

/**
 * Which tenant has the most open runs: it pays when there are too many, and not the tenant whose runs
 * happen to be the oldest.
 *
 * Counted from the first time somebody asks until there is room again: no run costs anything before.
 */
export class TenantShares {
  #counts: Map<string, number> | undefined = undefined;

  opened({ tenantId }: OfTenant): void {
    this.#counts?.set(tenantId, (this.#counts.get(tenantId) ?? 0) + 1);
  }

  closed({ tenantId }: OfTenant): void {
    const left = (this.#counts?.get(tenantId) ?? 0) - 1;
    if (left > 0) this.#counts?.set(tenantId, left);
    else this.#counts?.delete(tenantId);
  }

  /** There is room again: nothing is counted until the next question. */
  rest(): void {
    this.#counts = undefined;
  }

  /**
   * The tenant with the most open runs, of several the first by name; `undefined` when there are none.
   *
   * @param open all open runs, for when none was counted yet.
   * @param newcomer one of them, which does not count.
   */
  heaviest(open: Iterable<OfTenant>, newcomer: OfTenant): string | undefined {
    if (this.#counts === undefined) {
      this.#counts = new Map();
      for (const run of open) this.opened(run);
    }
    let heaviest: string | undefined;
    let most = 0;
    for (const [tenant, all] of this.#counts) {
      const count = tenant === newcomer.tenantId ? all - 1 : all;
      if (count > most || (count === most && heaviest !== undefined && tenant < heaviest)) {
        heaviest = tenant;
        most = count;
      }
    }
    return heaviest;
  }
}
