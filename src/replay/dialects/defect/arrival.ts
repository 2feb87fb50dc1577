import type { Instant, Signal } from "../../../events/door.ts";
import type { LineEnvelope } from "../dialect.ts";
import type { Stream } from "./streams.ts";

/** One event as it comes: when, on which stream, and the signals it makes. */
export class Arrival {
  readonly at: Instant;
  readonly out: SignalList;
  /** Name of the sub-agent that the event is of. */
  readonly agent: string | undefined;
  readonly #stream: Stream;
  readonly #eventId: string | undefined;

  constructor(
    { event_id, timestamp }: LineEnvelope,
    stream: Stream,
    agent: string | undefined,
    out: SignalList,
  ) {
    this.at = [timestamp[0], timestamp[1]];
    this.out = out;
    this.#stream = stream;
    this.#eventId = event_id;
    this.agent = agent;
  }

  /** Whether the event has an id: then what looks the same is no repeat. */
  get identified(): boolean {
    return this.#eventId !== undefined;
  }

  /** The agent of a stream, as far as this event says. */
  agentOf(stream: Stream): string | undefined {
    return stream === this.#stream ? this.agent : undefined;
  }

  /** What names a turn of the stream that this event opens. */
  openingOf(stream: Stream): string {
    return this.#eventId ?? String(stream.ordinal);
  }
}

/** The signals that one event makes, in their order. */
export class SignalList {
  readonly signals: Signal[] = [];
  /** Whose signals they are. */
  readonly tenantId: string;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  /** Adds a signal. It is one literal: to put it together out of parts takes several times as long. */
  add(signal: Signal): void {
    this.signals.push(signal);
  }
}
