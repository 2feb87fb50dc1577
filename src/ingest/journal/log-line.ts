/** One line of a log: the journal of the HTTP door, or one Kafka partition. */
export interface LogLine {
  /** Where it stands in its log: ascending, not necessarily dense. */
  readonly offset: number;
  /** One JSON object, without a newline. */
  readonly text: string;
  /** Bound by the front door, from the sender's token; `undefined`: as the line itself says. */
  readonly tenant: string | undefined;
  /** Name of a runtime; `undefined`: told by the line, or by the lines before of the same key. */
  readonly dialect: string | undefined;
  /** The record's key in Kafka; helps to tell the dialect. */
  readonly key: string | undefined;
  /** `false`: a `traceparent` of the line is not followed. */
  readonly trusted: boolean;
  /** Wall clock when it came, in ms since 1970; for the order window's longest wait. */
  readonly arrivedMs: number;
}

/** A line before it has a place in the log. */
export type NewLine = Omit<LogLine, "offset" | "arrivedMs">;
