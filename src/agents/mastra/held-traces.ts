import { type Fields, fieldsOf, textOf } from "../core/door.ts";

interface HeldTrace {
  readonly events: Fields[];
  readonly spans: Set<string>;
  readonly done: Promise<void>;
}

/** Tracing events of traces with a resumed run that waits for the store of paused runs. */
export class HeldTraces {
  readonly #traces = new Map<string, HeldTrace>();

  /** Holds the event if its trace is held. */
  takes(event: Fields): boolean {
    const { id, traceId } = fieldsOf(event.exportedSpan) ?? {};
    const held = this.#traces.get(textOf(traceId) ?? "");
    if (held === undefined) return false;
    held.events.push(event);
    held.spans.add(textOf(id) ?? "");
    return true;
  }

  /**
   * Holds a trace until its run has begun, and then until its events were followed, of which others may wait, too.
   *
   * @param follow follows an event. It never throws or rejects.
   */
  hold(
    { id, traceId }: { readonly id: string; readonly traceId: string },
    begun: Promise<void>,
    follow: (event: Fields) => void | Promise<void>,
  ): void {
    const events: Fields[] = [];
    const followAll = async () => {
      await begun;
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        const later = follow(event);
        if (later !== undefined) await later;
      }
      this.#traces.delete(traceId);
    };
    this.#traces.set(traceId, { events, spans: new Set([id]), done: followAll() });
  }

  /** Resolves when the span's trace is no longer held. `undefined`: it is not held. */
  of(spanId: string): Promise<void> | undefined {
    for (const { done, spans } of this.#traces.values()) if (spans.has(spanId)) return done;
    return undefined;
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#traces.values()].map(({ done }) => done));
  }
}
