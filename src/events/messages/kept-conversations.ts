/** Something that keeps messages in memory. */
export interface Keeper {
  /** About how many bytes it keeps. */
  readonly bytes: number;
  /** Forgets everything. */
  clear(): void;
}

/** Most bytes that all conversations keep together. */
const MOST_KEPT = 64 * 1024 * 1024;

/** The conversations of all open runs. Above {@link MOST_KEPT}, the one that was used longest ago is forgotten. */
class KeptConversations {
  /** In the order of their last use. */
  readonly #used = new Set<Keeper>();
  bytes = 0;
  /** Number of conversations that were forgotten while their run was open. */
  forgotten = 0;

  /** @param added bytes that it keeps since its last use. */
  used(keeper: Keeper, added: number): void {
    this.#used.delete(keeper);
    // One that keeps nothing needs no place, in case its run never ends.
    if (keeper.bytes > 0) this.#used.add(keeper);
    this.bytes += added;
    for (const oldest of this.#used) {
      if (this.bytes <= MOST_KEPT) return;
      this.forgotten += 1;
      this.forget(oldest);
    }
  }

  forget(keeper: Keeper): void {
    if (this.#used.delete(keeper)) this.bytes -= keeper.bytes;
    keeper.clear();
  }
}

export const keptConversations = new KeptConversations();
