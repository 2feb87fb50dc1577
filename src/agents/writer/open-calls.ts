import type { ToolCall } from "./run-parts.ts";

/**
 * The open tool calls of a run by their own key, in the order of their starts. A call without a key has its ID for
 * itself.
 */
export class OpenCalls<C extends ToolCall = ToolCall> implements Iterable<C> {
  readonly #calls = new Map<string, C>();
  /** Whether a call had a key. Otherwise, each ID has one call at the most. */
  #hasKeys = false;

  get size(): number {
    return this.#calls.size;
  }

  add(call: C): void {
    this.#calls.set(keyOf(call), call);
    if (call.key !== undefined) this.#hasKeys = true;
  }

  has(call: ToolCall): boolean {
    return this.#calls.get(keyOf(call)) === call;
  }

  /** Whether another open call has the ID for itself. */
  hasOther(call: ToolCall): boolean {
    const open: ToolCall | undefined = this.#calls.get(call.toolUseId);
    return open !== undefined && open !== call;
  }

  /** @param call may be a copy. */
  delete(call: ToolCall): void {
    this.#calls.delete(keyOf(call));
  }

  /** Puts an open call behind the others. */
  moveToEnd(call: C): void {
    if (this.#calls.delete(keyOf(call))) this.#calls.set(keyOf(call), call);
  }

  /** The open calls with that ID. */
  withId(toolUseId: string): readonly C[] {
    if (this.#hasKeys) return [...this].filter((call) => call.toolUseId === toolUseId);
    const call = this.#calls.get(toolUseId);
    return call === undefined ? [] : [call];
  }

  /** The first open call with that ID. */
  find(toolUseId: string, fits?: (call: C) => boolean): C | undefined {
    return this.withId(toolUseId).find((call) => fits?.(call) !== false);
  }

  [Symbol.iterator](): IterableIterator<C> {
    return this.#calls.values();
  }
}

function keyOf({ key, toolUseId }: ToolCall): string {
  return key ?? toolUseId;
}
