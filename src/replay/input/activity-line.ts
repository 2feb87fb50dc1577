import type { Instant } from "../../events/door.ts";
import {
  type Activity,
  type Dialect,
  EVENT_RANK,
  type JsonObject,
  type LineEnvelope,
  type StreamKey,
} from "../dialects/dialect.ts";
import { type OrderItem, positionOf } from "./order-item.ts";

/**
 * One line of a type that its dialect does not know, as far as it is a sign of life of its run: it takes
 * its turn among the events.
 *
 * @typeParam E the dialect's event.
 */
export class ActivityLine<E> implements OrderItem {
  readonly value: JsonObject;
  readonly envelope: LineEnvelope;
  readonly rank = EVENT_RANK.note;
  readonly dialect: Dialect<E>;
  /** Number of the line in its source; of several that are one history, counted through. */
  readonly line: number;
  readonly text: string;
  readonly #place: StreamKey;

  constructor(
    value: JsonObject,
    { envelope, streamKey: place }: Activity,
    dialect: Dialect<E>,
    line: number,
    text: string,
  ) {
    this.value = value;
    this.envelope = envelope;
    this.#place = place;
    this.dialect = dialect;
    this.line = line;
    this.text = text;
  }

  get at(): Readonly<Instant> {
    return this.envelope.timestamp;
  }

  get sequence(): number | bigint | undefined {
    return this.envelope.sequence ?? this.position;
  }

  get position(): number | undefined {
    return positionOf(this);
  }

  get eventId(): string | undefined {
    return this.envelope.event_id;
  }

  place(): StreamKey {
    return this.#place;
  }

  streamName(): string {
    return this.#place.part ?? this.#place.stream;
  }
}
