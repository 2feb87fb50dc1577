/** What has a tenant: an open run. */
export interface OfTenant {
  readonly tenantId: string;
}

/** How many open runs a tenant has, and where it stands in the heap. */
interface Share {
  readonly tenantId: string;
  runs: number;
  at: number;
}

/**
 * Which tenant has the most open runs: it pays when there are too many, and not the tenant whose runs
 * happen to be the oldest.
 *
 * Counted from the first time somebody asks until there is room again: no run costs anything before.
 * A heap, since at the limit each run that starts asks, and there may be thousands of tenants.
 */
export class TenantShares {
  #shares: Map<string, Share> | undefined = undefined;
  /** The heaviest first; of two that follow on one, at 2n + 1 and 2n + 2, none goes before it. */
  #heap: Share[] = [];

  opened({ tenantId }: OfTenant): void {
    if (this.#shares === undefined) return;
    let share = this.#shares.get(tenantId);
    if (share === undefined) {
      share = { tenantId, runs: 0, at: this.#heap.length };
      this.#shares.set(tenantId, share);
      this.#heap.push(share);
    }
    share.runs++;
    this.#rise(share);
  }

  closed({ tenantId }: OfTenant): void {
    const share = this.#shares?.get(tenantId);
    if (share === undefined) return;
    share.runs--;
    this.#sink(share);
    if (share.runs > 0) return;
    this.#shares?.delete(tenantId);
    const last = this.#heap.pop();
    if (last === undefined || last === share) return;
    this.#put(last, share.at);
    this.#rise(last);
    this.#sink(last);
  }

  /** There is room again: nothing is counted until the next question. */
  rest(): void {
    if (this.#shares === undefined) return;
    this.#shares = undefined;
    this.#heap = [];
  }

  /**
   * The tenant with the most open runs, of several the first by name; `undefined` when there are none.
   *
   * @param open all open runs, for when none was counted yet.
   * @param newcomer one of them, which does not count.
   */
  heaviest(open: Iterable<OfTenant>, newcomer: OfTenant): string | undefined {
    if (this.#shares === undefined) {
      this.#shares = new Map();
      for (const run of open) this.opened(run);
    }
    if (!this.#shares.has(newcomer.tenantId)) return this.#heap[0]?.tenantId;
    this.closed(newcomer);
    const heaviest = this.#heap[0]?.tenantId;
    this.opened(newcomer);
    return heaviest;
  }

  #rise(share: Share): void {
    for (;;) {
      const above = this.#heap[(share.at - 1) >> 1];
      if (above === undefined || !goesBefore(share, above)) return;
      this.#swap(share, above);
    }
  }

  #sink(share: Share): void {
    for (;;) {
      const left = this.#heap[2 * share.at + 1];
      const right = this.#heap[2 * share.at + 2];
      if (left === undefined) return;
      const below = right !== undefined && goesBefore(right, left) ? right : left;
      if (!goesBefore(below, share)) return;
      this.#swap(share, below);
    }
  }

  #swap(a: Share, b: Share): void {
    const { at } = a;
    this.#put(a, b.at);
    this.#put(b, at);
  }

  #put(share: Share, at: number): void {
    share.at = at;
    this.#heap[at] = share;
  }
}

function goesBefore(a: Share, b: Share): boolean {
  return a.runs === b.runs ? a.tenantId < b.tenantId : a.runs > b.runs;
}
