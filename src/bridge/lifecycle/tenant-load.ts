/** An open run. */
export interface OfTenant {
  readonly tenantId: string;
}

/** Number of a tenant's open runs, and its index in the heap. */
interface TenantLoad {
  readonly tenantId: string;
  runs: number;
  at: number;
}

/**
 * Finds the tenant with the most open runs. Above the limit of open runs, its runs are evicted first.
 *
 * It counts from the first eviction until there is room again, so that runs cost nothing before. It is
 * a heap, since at the limit each new run evicts one, and there may be thousands of tenants.
 */
export class TenantLoadHeap {
  #byTenant: Map<string, TenantLoad> | undefined = undefined;
  /** Binary heap, the tenant with the most runs first. Children of n are at 2n + 1 and 2n + 2. */
  #heap: TenantLoad[] = [];

  opened({ tenantId }: OfTenant): void {
    if (this.#byTenant === undefined) return;
    let load = this.#byTenant.get(tenantId);
    if (load === undefined) {
      load = { tenantId, runs: 0, at: this.#heap.length };
      this.#byTenant.set(tenantId, load);
      this.#heap.push(load);
    }
    load.runs++;
    this.#rise(load);
  }

  closed({ tenantId }: OfTenant): void {
    const load = this.#byTenant?.get(tenantId);
    if (load === undefined) return;
    load.runs--;
    this.#sink(load);
    if (load.runs > 0) return;
    this.#byTenant?.delete(tenantId);
    const last = this.#heap.pop();
    if (last === undefined || last === load) return;
    this.#put(last, load.at);
    this.#rise(last);
    this.#sink(last);
  }

  /** Stops counting until the next eviction. */
  rest(): void {
    if (this.#byTenant === undefined) return;
    this.#byTenant = undefined;
    this.#heap = [];
  }

  /**
   * The tenant with the most open runs, or the first of these by name. `undefined` if there are none.
   *
   * @param open all open runs, for starting to count.
   * @param newcomer one of them, which is not counted.
   */
  heaviest(open: Iterable<OfTenant>, newcomer: OfTenant): string | undefined {
    if (this.#byTenant === undefined) {
      this.#byTenant = new Map();
      for (const run of open) this.opened(run);
    }
    if (!this.#byTenant.has(newcomer.tenantId)) return this.#heap[0]?.tenantId;
    this.closed(newcomer);
    const heaviest = this.#heap[0]?.tenantId;
    this.opened(newcomer);
    return heaviest;
  }

  #rise(load: TenantLoad): void {
    for (;;) {
      const above = this.#heap[(load.at - 1) >> 1];
      if (above === undefined || !goesBefore(load, above)) return;
      this.#swap(load, above);
    }
  }

  #sink(load: TenantLoad): void {
    for (;;) {
      const left = this.#heap[2 * load.at + 1];
      const right = this.#heap[2 * load.at + 2];
      if (left === undefined) return;
      const below = right !== undefined && goesBefore(right, left) ? right : left;
      if (!goesBefore(below, load)) return;
      this.#swap(load, below);
    }
  }

  #swap(a: TenantLoad, b: TenantLoad): void {
    const { at } = a;
    this.#put(a, b.at);
    this.#put(b, at);
  }

  #put(load: TenantLoad, at: number): void {
    load.at = at;
    this.#heap[at] = load;
  }
}

function goesBefore(a: TenantLoad, b: TenantLoad): boolean {
  return a.runs === b.runs ? a.tenantId < b.tenantId : a.runs > b.runs;
}
