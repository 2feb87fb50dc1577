import { type Context, context } from "@opentelemetry/api";

/** Calls `read` inside the span that is current now. Does not call it if there is none. */
export type EnterSpan = (read: () => void) => void;

/**
 * A context whose span is looked up whenever it is read. For frameworks that have a current span, but do not call their
 * code through a callback.
 */
class FoundContext implements Context {
  readonly #base: Context;
  readonly #enter: EnterSpan;
  #isFinding = false;

  constructor(base: Context, enter: EnterSpan) {
    this.#base = base;
    this.#enter = enter;
  }

  getValue(key: symbol): unknown {
    return this.#found().getValue(key);
  }

  /** The result keeps the span of this moment, so that it can be replaced by an own span. */
  setValue(key: symbol, value: unknown): Context {
    return this.#found().setValue(key, value);
  }

  deleteValue(key: symbol): Context {
    return this.#found().deleteValue(key);
  }

  /** The context with the span of this moment. */
  static current(): Context {
    const active = context.active();
    return active instanceof FoundContext ? active.#found() : active;
  }

  #found(): Context {
    // The span's context is made of the active one, which is this.
    if (this.#isFinding) return this.#base;
    this.#isFinding = true;
    let found = this.#base;
    try {
      context.with(this, () =>
        this.#enter(() => {
          const active = context.active();
          if (active !== this) found = active;
        }),
      );
    } catch {
      // The reader is code of the application, which must not get this error.
    } finally {
      this.#isFinding = false;
    }
    return found;
  }
}

/** Calls `work` in the active context, with the span that `enter` enters when the context is read. */
export function inFoundContext<T>(enter: EnterSpan, work: () => T): T {
  // Not inside another one: code that starts its successor would make a chain without end.
  return context.with(new FoundContext(FoundContext.current(), enter), work);
}
