import type { RowAnchor } from "../audit-row.ts";
import type { NamedThread } from "../named-thread.ts";

/**
 * The heads of threads with rows that are queued and not yet stored. Bounded by what the queue holds.
 */
export class PendingHeads {
  readonly #heads = new Map<string, { head: RowAnchor; calls: number }>();

  get({ name }: NamedThread): RowAnchor | undefined {
    return this.#heads.get(name)?.head;
  }

  /** A call has queued rows up to `head`. */
  queued({ name }: NamedThread, head: RowAnchor): void {
    const pending = this.#heads.get(name);
    if (pending === undefined) {
      this.#heads.set(name, { head, calls: 1 });
    } else {
      pending.head = head;
      pending.calls += 1;
    }
  }

  /** The rows of the oldest such call were stored. */
  stored({ name }: NamedThread): void {
    const pending = this.#heads.get(name);
    if (pending === undefined) return;
    pending.calls -= 1;
    if (pending.calls === 0) this.#heads.delete(name);
  }

  /** Nothing of what was queued has been stored. */
  forgetQueued(): void {
    this.#heads.clear();
  }
}
