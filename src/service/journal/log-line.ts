import type { DecodedLogLine } from "../processor/decode-log-line.ts";

/** One line of a log: of the journal of `serve`, or of a Kafka partition. */
export interface LogLine {
  /** Position in the log. Ascending, perhaps with gaps. */
  readonly offset: number;
  /** One JSON object, without a newline. */
  readonly text: string;
  /** Tenant of the sender's token. `undefined`: as the line says. */
  readonly tenant: string | undefined;
  /** Name of a dialect. `undefined`: detected from the line, or from earlier lines with the same key. */
  readonly dialect: string | undefined;
  /** The record's key in Kafka. Helps to detect the dialect. */
  readonly key: string | undefined;
  /** `false`: a `traceparent` of the line is ignored. */
  readonly trusted: boolean;
  /** Time of arrival in ms since 1970, for the maximum wait in the reorder buffer. */
  readonly arrivedMs: number;
  /** The decoded text. `undefined`: the processor decodes it. A line from a file has none. */
  readonly decoded?: DecodedLogLine | undefined;
}

/** A line without an offset yet. */
export type NewLine = Omit<LogLine, "offset" | "arrivedMs">;

/** Maximum length of a line's text, in bytes of UTF-8: 64 MiB. */
export const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** Maximum length of tenant, dialect and key, in UTF-16 units. */
const MAX_NAME = 64 * 1024;

/** Whether two lines differ at most in their text. Most lines of a sender do. */
export function sharesFields(a: NewLine, b: NewLine): boolean {
  return (
    a.tenant === b.tenant && a.dialect === b.dialect && a.key === b.key && a.trusted === b.trusted
  );
}

/** @throws RangeError with the line's index and field if the journal could not return the line unchanged. */
export function checkLines(lines: readonly NewLine[]): void {
  let before: NewLine | undefined;
  for (const [index, line] of lines.entries()) {
    const { dialect, key, tenant, text } = line;
    if (text.includes("\n")) throw refused(index, "text", "no line feed in it");
    // A UTF-16 unit takes at most three bytes, so only very long lines are measured.
    if (text.length * 3 > MAX_TEXT_BYTES && Buffer.byteLength(text) > MAX_TEXT_BYTES) {
      throw refused(index, "text", `at most ${MAX_TEXT_BYTES} bytes`);
    }
    if (before !== undefined && sharesFields(line, before)) continue;
    before = line;
    for (const [field, value] of Object.entries({ dialect, key, tenant })) {
      if (value === undefined || value.length <= MAX_NAME) continue;
      throw refused(index, field, `at most ${MAX_NAME} characters`);
    }
  }
}

function refused(index: number, field: string, expected: string): RangeError {
  return new RangeError(`lines[${index}].${field}: expected ${expected}`);
}
