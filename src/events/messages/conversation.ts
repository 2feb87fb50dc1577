import { isMessage } from "./conventional.ts";
import type { Draft } from "./items.ts";
import { type Keeper, keptConversations } from "./kept-conversations.ts";
import type { InputMessage } from "./message.ts";
import { copiedMessage, ownMessage } from "./message-text.ts";
import { equalsCopy, ownCopy } from "./own-copy.ts";
import { isObject, MOST_ENTRIES } from "./own-fields.ts";
import { draftMessage, entryDrafts, grouped, hasMessages, inputMessages } from "./to-messages.ts";

/** An entry of a list of messages, converted. */
interface Entry {
  /** The entry as it was then. {@link NO_COPY} if it cannot be copied, so that it is converted each time. */
  readonly copy: unknown;
  /** About how many bytes the copy takes. */
  readonly bytes: number;
  /** The entry itself, if it has the conventions' form. */
  readonly message: InputMessage | undefined;
  /** The message of its only draft, if that is not joined with others. */
  readonly single: InputMessage | undefined;
  readonly drafts: readonly Draft[];
  /** Whether its form is known. */
  readonly isKnown: boolean;
}

const NO_COPY = Symbol("no copy");

/** A message of several drafts. */
interface Group {
  readonly drafts: readonly Draft[];
  readonly message: InputMessage;
}

/**
 * Converts the messages of a run's model calls. Each call has the whole conversation, so a message comes again in
 * every later call. It is converted when it comes first, and again only if code changed it in place. It is found by
 * its object or, if the framework clones it, by its position in the list before.
 */
export class Conversation implements Keeper {
  bytes = 0;
  /** Both are made when they are needed: a weak map costs as much as the conversion of a message. */
  #entries: WeakMap<object, Entry> | undefined;
  #last: readonly (Entry | undefined)[] = [];
  /** By the first draft. It has each draft that may be joined and shares nothing with other code. */
  #groups: WeakMap<Draft, Group | undefined> | undefined;

  /**
   * The same messages as those of `toMessages`, frozen if JSON has all of them. Never throws.
   *
   * @param viewOf returns the fields of a framework's own message that are converted. Default: all.
   */
  messages(given: unknown, viewOf = asItIs): readonly InputMessage[] {
    if (!Array.isArray(given) || given.length > MOST_ENTRIES) return inputMessages(given);
    try {
      const entries = this.#read(given, viewOf);
      const messages = entries.map(({ message }) => message);
      if (messages.every((message) => message !== undefined)) return messages;
      if (hasMessages(entries, (entry) => entry.isKnown)) return this.#joined(entries);
    } catch {
      // A value that throws when it is read, which a single conversion handles.
    }
    return inputMessages(given.map(viewOf));
  }

  clear(): void {
    this.bytes = 0;
    this.#entries = undefined;
    this.#last = [];
    this.#groups = undefined;
  }

  /** The run ended. */
  end(): void {
    keptConversations.forget(this);
  }

  #read(list: readonly unknown[], viewOf: (each: unknown) => unknown): readonly Entry[] {
    const before = this.bytes;
    const entries: Entry[] = [];
    try {
      for (const each of list) {
        const value = viewOf(each);
        const known = isObject(each) ? this.#entries?.get(each) : undefined;
        const last = this.#last[entries.length];
        if (known !== undefined && isSame(value, known)) entries.push(known);
        else if (last !== undefined && isSame(value, last)) entries.push(last);
        else {
          this.bytes -= known?.bytes ?? 0;
          entries.push(this.#entryOf(each, value));
        }
      }
      return entries;
    } finally {
      // Entries that cannot be copied are not kept: their size is not known.
      this.#last = entries.map((entry) => (entry.copy === NO_COPY ? undefined : entry));
      keptConversations.used(this, this.bytes - before);
    }
  }

  #entryOf(each: unknown, value: unknown): Entry {
    const copy = ownCopy(value);
    const shown = copy === undefined ? value : copy.value;
    const { drafts, isKnown } = entryDrafts(shown, "user");
    const own = copy === undefined ? copiedMessage : ownMessage;
    const message = isMessage(shown) ? own(shown) : undefined;
    const one = drafts.length === 1 && drafts[0]?.joins === false;
    const converted = one ? draftMessage(drafts, "user") : undefined;
    const single = converted && own(converted);
    if (copy === undefined) {
      if (isObject(each)) this.#entries?.delete(each);
      return { copy: NO_COPY, bytes: 0, message, single, drafts, isKnown };
    }
    if (single === undefined) {
      this.#groups ??= new WeakMap();
      for (const draft of drafts) this.#groups.set(draft, undefined);
    }
    const { bytes } = copy;
    this.bytes += bytes;
    const entry = { copy: shown, bytes, message, single, drafts, isKnown };
    if (isObject(each)) {
      this.#entries ??= new WeakMap();
      this.#entries.set(each, entry);
    }
    return entry;
  }

  #joined(entries: readonly Entry[]): readonly InputMessage[] {
    const messages: InputMessage[] = [];
    let open: Draft[] = [];
    const close = () => {
      for (const drafts of grouped(open)) {
        const message = this.#messageOf(drafts);
        if (message !== undefined) messages.push(message);
      }
      open = [];
    };
    for (const { drafts, single } of entries) {
      if (single === undefined) {
        for (const draft of drafts) open.push(draft);
      } else {
        if (open.length > 0) close();
        messages.push(single);
      }
    }
    close();
    return messages;
  }

  #messageOf(drafts: readonly Draft[]): InputMessage | undefined {
    const [first] = drafts;
    const groups = this.#groups;
    const known = first && groups?.get(first);
    if (known !== undefined && areSame(known.drafts, drafts)) return known.message;
    const message = draftMessage(drafts, "user");
    if (first === undefined || message === undefined) return undefined;
    if (groups === undefined || !drafts.every((draft) => groups.has(draft))) {
      return copiedMessage(message);
    }
    groups.set(first, { drafts, message: ownMessage(message) });
    return message;
  }
}

function asItIs(each: unknown): unknown {
  return each;
}

function isSame(value: unknown, { copy }: Entry): boolean {
  try {
    return equalsCopy(value, copy);
  } catch {
    return false;
  }
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((each, index) => each === others[index]);
}
