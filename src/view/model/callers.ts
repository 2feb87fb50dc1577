import type { SpanNode } from "./span-tree.ts";

/** Who calls models: calls with the same model and instructions are of one conversation. */
export class Callers {
  readonly #answeredAt = new Map<string, number>();
  readonly #keys = new Map<SpanNode, string>();

  /**
   * Takes a call.
   *
   * @param key model and instructions.
   * @returns the position in the conversation behind the caller's last answer. `undefined` if it has none.
   */
  asks(node: SpanNode, key: string): number | undefined {
    this.#keys.set(node, key);
    return this.#answeredAt.get(key);
  }

  /** @param end position behind the answer to the call. */
  answered(node: SpanNode, end: number): void {
    const key = this.#keys.get(node);
    if (key !== undefined) this.#answeredAt.set(key, end);
  }
}
