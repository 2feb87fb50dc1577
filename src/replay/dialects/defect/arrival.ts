import type { Instant, Signal } from "../../../events/door.ts";
import type { LineEnvelope } from "../dialect.ts";
import type { Stream } from "./streams.ts";

/** One event: its time, its stream, and the signals that it makes. */
export class Arrival {
  readonly at: Instant;
  readonly out: SignalList;
  /** Name of the sub-agent of the event. */
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

  /** Whether the event has an ID. Then an equal event is not a repeat. */
  get identified(): boolean {
    return this.#eventId !== undefined;
  }

  /** The agent of a stream, if this event names it. */
  agentOf(stream: Stream): string | undefined {
    return stream === this.#stream ? this.agent : undefined;
  }

  /** Input of the run ID of a turn that this event opens. */
  openingOf(stream: Stream): string {
    return this.#eventId ?? String(stream.ordinal);
  }
}

/** The signals of one event, in order. */
export class SignalList {
  readonly signals: Signal[] = [];
  /** Tenant of the signals. */
  readonly tenantId: string;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  /** Adds a signal. Pass one literal: composing it from parts takes several times as long. */
  add(signal: Signal): void {
    this.signals.push(signal);
  }
}
