import type { MessageText } from "../../events/door.ts";

/** Most bytes of a run's messages that are compared. A longer input is shown without those of the call before. */
const MOST_COMPARED = 4 * 1024 * 1024;

/** Counts which messages of a model call the call before it in its run had, too. */
export class EarlierMessages {
  /** By run. */
  readonly #last = new WeakMap<object, readonly MessageText[]>();

  /**
   * Number of messages from the start that equal those of the run's call before.
   *
   * @param texts of the call. `undefined` if they have other values than JSON's. Then the next call shows all of its own.
   */
  count(run: object, texts: readonly MessageText[] | undefined): number {
    const before = this.#last.get(run) ?? [];
    let bytes = 0;
    for (const { size } of texts ?? []) bytes += size;
    if (texts === undefined || bytes > MOST_COMPARED) {
      this.#last.delete(run);
      return 0;
    }
    this.#last.set(run, texts);
    const firstNew = texts.findIndex((text, index) => !areEqual(text, before[index]));
    return firstNew < 0 ? texts.length : firstNew;
  }
}

function areEqual(one: MessageText, other: MessageText | undefined): boolean {
  if (one === other) return true;
  return one.size === other?.size && one.write() === other.write();
}
