/** One line of a log: the journal of the HTTP door, or one Kafka partition. */
export interface LogLine {
  /** Where it stands in its log: ascending, not necessarily dense. */
  readonly offset: number;
  /** One JSON object, without a newline. */
  readonly text: string;
  /** Bound by the front door, from the sender's token; `undefined`: as the line itself says. */
  readonly tenant: string | undefined;
  /** Name of a runtime; `undefined`: detected from the line, or from earlier lines of the same key. */
  readonly dialect: string | undefined;
  /** The record's key in Kafka; helps to tell the dialect. */
  readonly key: string | undefined;
  /** `false`: a `traceparent` of the line is not followed. */
  readonly trusted: boolean;
  /** Wall clock when it came, in ms since 1970; for the reorder buffer's longest wait. */
  readonly arrivedMs: number;
}

/** A line before it has a place in the log. */
export type NewLine = Omit<LogLine, "offset" | "arrivedMs">;

/** Longest text of a line that the journal takes, in bytes of UTF-8: 64 MiB. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Longest tenant, dialect and key, in UTF-16 units. */
const MAX_NAME = 64 * 1024;

/**
 * @throws RangeError naming the line, from 0, and the field, when the journal could not give a line
 *   back as it came.
 */
export function checkLines(lines: readonly NewLine[]): void {
  for (const [index, { dialect, key, tenant, text }] of lines.entries()) {
    const place = `lines[${index}]`;
    if (text.includes("\n")) throw new RangeError(`${place}.text: expected no line feed in it`);
    // A UTF-16 unit takes at most three bytes: only very long lines are measured.
    if (text.length * 3 > MAX_TEXT_BYTES && Buffer.byteLength(text) > MAX_TEXT_BYTES) {
      throw new RangeError(`${place}.text: expected at most ${MAX_TEXT_BYTES} bytes`);
    }
    for (const [field, value] of Object.entries({ dialect, key, tenant })) {
      if (value === undefined || value.length <= MAX_NAME) continue;
      throw new RangeError(`${place}.${field}: expected at most ${MAX_NAME} characters`);
    }
  }
}
