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
 * A line of an unknown type that shows activity of its run. It takes its turn among the events.
 *
 * @typeParam E the dialect's event.
 */
export class ActivityLine<E> implements OrderItem {
  readonly value: JsonObject;
  readonly envelope: LineEnvelope;
  readonly rank = EVENT_RANK.note;
  readonly dialect: Dialect<E>;
  /** Number of the line, counted on through all sources of one history. */
  readonly line: number;
  readonly text: string;
  readonly #streamKey: StreamKey;

  constructor(
    value: JsonObject,
    { envelope, streamKey }: Activity,
    dialect: Dialect<E>,
    line: number,
    text: string,
  ) {
    this.value = value;
    this.envelope = envelope;
    this.#streamKey = streamKey;
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

  streamKey(): StreamKey {
    return this.#streamKey;
  }

  streamName(): string {
    return this.#streamKey.part ?? this.#streamKey.stream;
  }
}
