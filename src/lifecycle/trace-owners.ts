/**
 * Which tenant a trace belongs to: the one whose runs, open or remembered, are in it.
 *
 * It counts the runs that hold a trace, so its size is bounded by theirs.
 */
export class TraceOwners {
  readonly #owners = new Map<string, { readonly tenantId: string; runs: number }>();

  /** Whether the trace holds runs of another tenant. */
  isForeign(tenantId: string, traceId: string): boolean {
    if (this.#owners.size === 0) return false;
    const owner = this.#owners.get(traceId);
    return owner !== undefined && owner.tenantId !== tenantId;
  }

  /** One more run of the tenant is in the trace. */
  hold(tenantId: string, traceId: string): void {
    const owner = this.#owners.get(traceId);
    if (owner === undefined) this.#owners.set(traceId, { tenantId, runs: 1 });
    else owner.runs++;
  }

  /** A run of the trace was forgotten. */
  release(traceId: string): void {
    const owner = this.#owners.get(traceId);
    if (owner === undefined) return;
    if (owner.runs === 1) this.#owners.delete(traceId);
    else owner.runs--;
  }
}
