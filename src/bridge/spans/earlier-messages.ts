import { compareInstants, type Instant, type MessageText } from "../../events/door.ts";

/** Most bytes of a run's messages that are compared. A longer input is shown without those of the call before. */
const MOST_COMPARED = 4 * 1024 * 1024;

/** A model call. */
interface Asked {
  readonly startedAt: Instant;
}

interface Shown {
  readonly call: Asked;
  readonly texts: readonly MessageText[];
}

/** Counts which messages of a model call the call before it in its run had, too. */
export class EarlierMessages {
  /** By run. */
  readonly #last = new WeakMap<object, Shown>();
  readonly #calls = new WeakSet<Asked>();

  /**
   * Number of messages from the start that equal those of the run's call before. `undefined` for none. 0 if the call's
   * input was counted before: its start and its end can have one, and the span shows all messages of the second.
   *
   * @param texts of the call. `undefined` if they have other values than JSON's. Then the next call shows all of its own.
   */
  count(run: object, call: Asked, texts: readonly MessageText[] | undefined): number | undefined {
    const last = this.#last.get(run);
    const none = this.#calls.has(call) ? 0 : undefined;
    this.#calls.add(call);
    // Calls can end in another order. Readers look for earlier messages in the calls that started before.
    if (last !== undefined && compareInstants(last.call.startedAt, call.startedAt) > 0) return none;
    let bytes = 0;
    for (const { size } of texts ?? []) bytes += size;
    if (texts === undefined || bytes > MOST_COMPARED) {
      this.#last.delete(run);
      return none;
    }
    this.#last.set(run, { call, texts });
    if (none !== undefined || last === undefined) return none;
    const firstNew = texts.findIndex((text, index) => !areEqual(text, last.texts[index]));
    return (firstNew < 0 ? texts.length : firstNew) || undefined;
  }
}

function areEqual(one: MessageText, other: MessageText | undefined): boolean {
  if (one === other) return true;
  return one.size === other?.size && one.write() === other.write();
}
